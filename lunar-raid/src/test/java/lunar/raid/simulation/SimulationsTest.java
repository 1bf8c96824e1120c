package lunar.raid.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import lunar.raid.simulation.EventCounts.Event;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The simulations of {@code make simulate}: each kind of fault occurs often, and defects they found stay fixed. */
class SimulationsTest {
    private static final int RUNS = 400;
    /** Fewer would be chance. */
    private static final int FEW = 5;

    @Test
    void shouldMeetEachKindOfTroubleInNumbers() {
        var simulations = new Simulations(1, RUNS);
        simulations.play();
        assertThat(simulations.failures()).isEmpty();
        EventCounts tally = simulations.tally();
        assertThat(tally.of(Event.RUN)).isEqualTo(RUNS);
        assertThat(Arrays.stream(Event.values()).filter(event -> tally.of(event) < FEW))
                .as("%s", tally).isEmpty();
    }

    /** A write that missed a slot was logged before a crash would find that the slot had failed. */
    @ParameterizedTest
    @ValueSource(longs = {1_003_540, 1_008_606, 1_008_781, 1_018_224, 1_018_242, 1_028_745,
            1_033_098, 1_037_409, 1_038_163, 1_044_098, 1_048_290, 1_052_123})
    void shouldNotLogWithoutASlotThatACrashWouldFind(long seed) {
        Simulation.withoutChecksums(seed).run();
    }

    /** An entry of the journal from before a slot failed was replayed over the data of its rebuild. */
    @ParameterizedTest
    @ValueSource(longs = {1_021_412, 1_039_314, 1_039_649, 1_046_484})
    void shouldNotReplayWhatIsOlderThanARebuild(long seed) {
        Simulation.withoutChecksums(seed).run();
    }

    /** A flush left a slot out, and was acknowledged before a crash would find that the slot had failed. */
    @ParameterizedTest
    @ValueSource(longs = {2_011_750_481L})
    void shouldNotFlushWithoutASlotThatACrashWouldFind(long seed) {
        Simulation.withoutChecksums(seed).run();
    }

    /** No new member came in that took shorter writes than those that had the journal at the start. */
    @ParameterizedTest
    @ValueSource(longs = {2_011_811_220L})
    void shouldTakeMembersThatTakeShorterWrites(long seed) {
        Simulation.withoutChecksums(seed).run();
    }

    /** A member was failed for refusals of two busy spells, between which it had answered. */
    @ParameterizedTest
    @ValueSource(longs = {2_019_654_415L})
    void shouldKeepAMemberThatIsBusyNowAndThen(long seed) { requireSuccess(seed); }

    /** Blocks were called lost that had been written: a copy of the list of bad blocks was older than the one in use. */
    @ParameterizedTest
    @ValueSource(longs = {2_012_835_125L})
    void shouldNotLoseBlocksOnceMore(long seed) { requireSuccess(seed); }

    /** Copies of a mirror that were rebuilt from a third one, which is lost, were taken for copies that went apart. */
    @ParameterizedTest
    @ValueSource(longs = {2_019_677_162L})
    void shouldAssembleCopiesWithoutTheOneTheyHadInCommon(long seed) { requireSuccess(seed); }

    /** A member came back after a collapse, or stayed away, whether the volume needed it or not. */
    @ParameterizedTest
    @ValueSource(longs = {1_343_467_040, 1_343_500_978})
    void shouldBringBackTheMembersThatAVolumeNeeds(long seed) { requireSuccess(seed); }

    private static void requireSuccess(long seed) {
        var simulations = new Simulations(seed, 1);
        simulations.play();
        assertThat(simulations.failures()).isEmpty();
    }
}
