package lunar.raid.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import java.util.function.Function;
import java.util.stream.Stream;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A volume that does one thing wrong is found out within a few seeds: else the simulation would prove nothing. */
class WrongRulesTest {
    private static final Faults LOSSES = new Faults(true, false, false);
    private static final Faults ALL = new Faults(true, true, true);
    private static final Faults CACHES = ALL.withCaches(true);
    private static final Faults EXCESS = ALL.withExcess();
    private static final Faults SUMS = new Faults(true, true, true, true);

    static Stream<Arguments> wrong() {
        return Stream.of(
                argumentSet("parity of one unit is forgotten", Level.RAID5, LOSSES, 20,
                        of(WrongPlanners.forgetsParityOfOneUnit())),
                argumentSet("parity is forgotten when degraded", Level.RAID6, LOSSES, 100,
                        of(WrongPlanners.forgetsParityWhenDegraded())),
                argumentSet("parity is reconstructed with a stale unit", Level.RAID5, LOSSES, 20,
                        of(WrongPlanners.reconstructsWithAStaleUnit())),
                argumentSet("a factor of Q is wrong", Level.RAID6, LOSSES, 20,
                        (Function<Layout, Rules>) WrongPlanners::takesAWrongFactorForQ),
                argumentSet("Q is left out of a recovery", Level.RAID6, LOSSES, 20,
                        (Function<Layout, Rules>) WrongPlanners::recoversWithoutQ),
                argumentSet("a copy is forgotten", Level.RAID10, LOSSES, 20,
                        of(WrongPlanners.forgetsACopy())),
                argumentSet("a rebuild leaves something out", Level.RAID1, LOSSES, 20,
                        of(WrongPlanners.restoresTooLittle())),
                argumentSet("there is no journal", Level.RAID5, ALL, 50,
                        of(WrongGuards.guardsNothing())),
                argumentSet("there is no bitmap", Level.RAID1, ALL, 50,
                        of(WrongGuards.guardsNothing())),
                argumentSet("an entry is freed before its write", Level.RAID5, ALL, 200,
                        of(WrongGuards.endsBeforeTheWrite())),
                argumentSet("a bit is taken away before its write", Level.RAID10, ALL, 500,
                        of(WrongGuards.endsBeforeTheWrite())),
                argumentSet("an entry is freed before a flush", Level.RAID5, ALL, 200,
                        of(WrongGuards.freesBeforeTheFlush())),
                argumentSet("entries are freed when a flush begins", Level.RAID5, ALL, 200,
                        of(WrongGuards.freesWhenAFlushBegins())),
                argumentSet("one section is replayed", Level.RAID5, ALL, 50,
                        of(WrongSections.replaysTheFirstAlone())),
                argumentSet("one section is begun anew", Level.RAID5, ALL, 50,
                        of(WrongSections.beginsTheFirstAlone())),
                argumentSet("a section is on one member", Level.RAID6, ALL, 200,
                        of(WrongSections.logsOnOneMember())),
                argumentSet("a part of a stripe is logged without data", Level.RAID6, ALL, 50,
                        of(WrongGuards.logsNoData())),
                argumentSet("short writes have no checksums", Level.RAID5, SUMS, 50,
                        of(WrongGuards.forgetsChecksumsOfShortWrites())),
                argumentSet("zeroes have no checksums", Level.RAID1, SUMS, 200,
                        of(WrongGuards.forgetsChecksumsOfZeroes())),
                argumentSet("a lost cache passes for nothing", Level.RAID1, CACHES, 1000,
                        of(WrongMembers.hidesLosses())),
                argumentSet("a lost cache passes for nothing", Level.RAID5, CACHES, 1000,
                        of(WrongMembers.hidesLosses())),
                argumentSet("a lost cache is noticed by the next flush only", Level.RAID1, CACHES,
                        1000, of(WrongMembers.reportsLossesByFlushesOnly())),
                argumentSet("a member that comes back is not fenced", Level.RAID10, CACHES, 1000,
                        of(Rules.fence(_ -> {}))),
                argumentSet("the list of losses is not asked", Level.RAID6, EXCESS, 200,
                        of(WrongBadBlockLists.asksNothing())),
                argumentSet("the list of losses is asked about one block", Level.RAID5, EXCESS,
                        200, of(WrongBadBlockLists.asksAboutTheFirstBlock())),
                argumentSet("the list of losses is asked about the first chunk", Level.RAID1,
                        EXCESS, 200, of(WrongBadBlockLists.asksAboutTheFirstChunk())),
                argumentSet("a loss is listed for ever", Level.RAID10, EXCESS, 200,
                        of(WrongBadBlockLists.forgetsNothing())),
                argumentSet("a loss is not listed", Level.RAID5, EXCESS, 200,
                        of(WrongBadBlockLists.notesNothing())),
                argumentSet("a failure is kept too late", Level.RAID6, ALL, 1000,
                        of(WrongGuards.keepsTooLate())));
    }

    static Stream<Arguments> wrongReshapes() {
        return Stream.of(
                argumentSet("what is staged is not noted", Level.RAID0, 50,
                        WrongReshapes.notesNothingStaged()),
                argumentSet("what is moved is noted too late", Level.RAID0, 200,
                        WrongReshapes.notesTooLate()),
                argumentSet("what is staged is noted as being in place", Level.RAID6, 1000,
                        WrongReshapes.notesTooMuch()),
                argumentSet("entries of the old layout stay", Level.RAID6, 400,
                        WrongGuards.settlesNothing()),
                argumentSet("what is staged of copies is not noted", Level.RAID10, 100,
                        WrongReshapes.notesNothingStaged()),
                argumentSet("copies that may differ are not compared", Level.RAID10, 100,
                        WrongReshapes.comparesNothing()),
                argumentSet("there is no bitmap", Level.RAID10, 100,
                        WrongGuards.guardsNothing()),
                argumentSet("losses are judged in the new layout alone", Level.RAID10, 2000,
                        WrongReshapes.judgesLossesInTheNewLayout()));
    }

    @ParameterizedTest
    @MethodSource("wrongReshapes")
    void shouldBeFoundInAReshapeWithinSoManySeeds(Level level, int seeds, Rules rules) {
        AssertionError found = null;
        for (long seed = 1; seed <= seeds && found == null; seed++) {
            try {
                Simulation.growing(level, seed, rules).run();
            } catch (AssertionError e) {
                found = e;
            }
        }
        assertThat(found).as("what %d seeds have found", seeds).isNotNull();
        assertThat(found).hasMessageStartingWith("seed ");
    }

    private static Function<Layout, Rules> of(Rules rules) { return _ -> rules; }

    @ParameterizedTest
    @MethodSource("wrong")
    void shouldBeFoundWithinSoManySeeds(Level level, Faults faults, int seeds,
            Function<Layout, Rules> rules) {
        AssertionError found = null;
        for (long seed = 1; seed <= seeds && found == null; seed++) {
            found = played(level, seed, faults, rules);
        }
        assertThat(found).as("what %d seeds have found", seeds).isNotNull();
        assertThat(found).hasMessageStartingWith("seed ");
    }

    private static @Nullable AssertionError played(Level level, long seed, Faults faults,
            Function<Layout, Rules> rules) {
        try {
            Layout layout = new SimWorld(level, seed, faults).layout;
            new Simulation(level, seed, faults, rules.apply(layout)).run();
            return null;
        } catch (AssertionError e) {
            return e;
        }
    }
}
