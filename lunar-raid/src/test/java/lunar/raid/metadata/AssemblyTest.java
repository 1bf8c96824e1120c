package lunar.raid.metadata;

import static lunar.raid.metadata.Composition.Use.IN_SYNC;
import static lunar.raid.metadata.Composition.Use.MISSING;
import static lunar.raid.metadata.Composition.Use.REBUILDING;
import static lunar.raid.metadata.Composition.Use.STALE;
import static lunar.raid.metadata.Composition.Use.STALE_COVERED;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.UUID;
import lunar.raid.SlotState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.junit.jupiter.api.Test;

class AssemblyTest {
    private static final long SIZE = (2L << 20) + Volumes.MEMBER_BLOCKS * 512;

    private static Candidate candidate(VolumeRecord volume, int line) {
        return new Candidate("file:" + line, SIZE, 512,
                new SuperblockReading.Found(new Superblock(3, line, volume)));
    }

    private static List<Candidate> all(VolumeRecord volume) {
        var candidates = new ArrayList<Candidate>();
        for (int line = 0; line < volume.members().size(); line++) {
            candidates.add(candidate(volume, line));
        }
        return candidates;
    }

    private static VolumeRecord raid5() {
        return Volumes.volume(Level.RAID5, 3, Consistency.JOURNAL);
    }

    private static VolumeRecord failed(VolumeRecord volume, int slot) {
        return volume.with(slot, volume.members().get(slot).as(SlotState.FAILED)).next();
    }

    private static Composition assembled(List<Candidate> candidates) {
        return assembled(candidates, DegradedStart.REFUSED);
    }

    private static Composition assembled(List<Candidate> candidates, DegradedStart degradedStart) {
        Outcome outcome = Assembly.of(candidates, degradedStart);
        assertThat(outcome).isInstanceOf(Outcome.Assembled.class);
        return ((Outcome.Assembled) outcome).composition();
    }

    private static String refused(List<Candidate> candidates) {
        return refused(candidates, DegradedStart.FORCED);
    }

    private static String refused(List<Candidate> candidates, DegradedStart degradedStart) {
        Outcome outcome = Assembly.of(candidates, degradedStart);
        assertThat(outcome).isInstanceOf(Outcome.Refused.class);
        String why = ((Outcome.Refused) outcome).why();
        assertThat(why).doesNotContain("\n");
        return why;
    }

    private static List<Use> uses(Composition composition) {
        return composition.slots().stream().map(Composition.Slot::use).toList();
    }

    @Test
    void shouldAssembleInAnyOrder() {
        VolumeRecord volume = Volumes.withSpare(Volumes.volume(Level.RAID6, 5, Consistency.BITMAP),
                Volumes.member(7));
        var random = new Random(5);
        for (int i = 0; i < 20; i++) {
            List<Candidate> candidates = all(volume);
            Collections.shuffle(candidates, random);
            Composition composition = assembled(candidates);
            assertThat(uses(composition)).containsOnly(IN_SYNC);
            for (int slot = 0; slot < 5; slot++) {
                assertThat(
                        candidates.get(composition.slots().get(slot).candidate().getAsInt()).uri())
                        .isEqualTo("file:" + slot);
            }
            assertThat(composition.spares()).singleElement()
                    .satisfies(spare -> assertThat(candidates.get(spare.getAsInt()).uri())
                            .isEqualTo("file:5"));
            assertThat(composition.resync()).isEqualTo(Resync.NONE);
            assertThat(composition.isDegraded()).isFalse();
            assertThat(composition.volume()).isEqualTo(volume);
        }
    }

    @Test
    void shouldDoWithoutWhatTheLevelCanMiss() {
        List<Candidate> candidates = all(raid5());
        candidates.remove(1);
        Composition composition = assembled(candidates, DegradedStart.ALLOWED);
        assertThat(uses(composition)).containsExactly(IN_SYNC, MISSING, IN_SYNC);
        assertThat(composition.away()).isEqualTo(0b010);
        assertThat(composition.isDegraded()).isTrue();
        assertThat(composition.inSync()).isEqualTo(0b101);

        candidates.add(new Candidate("file:wiped", SIZE, 512, new SuperblockReading.Blank()));
        composition = assembled(candidates, DegradedStart.ALLOWED);
        assertThat(uses(composition)).containsExactly(IN_SYNC, MISSING, IN_SYNC);
        assertThat(composition.leftOut()).containsExactly(
                new Composition.LeftOut(2, "there is no superblock on it"));
    }

    @Test
    void shouldRefuseTooFewAndSayWhoIsMissing() {
        List<Candidate> candidates = all(raid5());
        candidates.set(0, Candidate.unreachable("iscsi://a", "connection refused"));
        candidates.set(2, new Candidate("file:2", SIZE, 512,
                new SuperblockReading.Damaged("its checksum is wrong")));
        assertThat(refused(candidates)).isEqualTo("volume 'music' (" + Volumes.VOLUME
                + ") cannot be had from 1 of its 3 members (RAID 5 needs 2): slot 0: its member "
                + Volumes.member(0) + " is missing; slot 2: its member " + Volumes.member(2)
                + " is missing; iscsi://a: it cannot be read: connection refused; "
                + "file:2: its superblock is damaged: its checksum is wrong");
        assertThat(refused(List.of())).contains("no member of a volume among 0 devices");
        assertThat(refused(List.of(Candidate.unreachable("iscsi://a", "no route"))))
                .contains("iscsi://a: it cannot be read: no route");
        for (Level level : List.of(Level.LINEAR, Level.RAID0)) {
            List<Candidate> striped = all(Volumes.volume(level, 2, Consistency.NONE));
            assertThat(refused(striped.subList(0, 1))).contains("1 of its 2").contains("needs all");
        }
    }

    @Test
    void shouldKnowWhichHalvesOfRaid10Suffice() {
        List<Candidate> four = all(Volumes.volume(Level.RAID10, 4, Consistency.BITMAP));
        assertThat(uses(assembled(List.of(four.get(2), four.get(1)), DegradedStart.FORCED)))
                .containsExactly(MISSING, IN_SYNC, IN_SYNC, MISSING);
        assertThat(refused(List.of(four.get(0), four.get(1)))).contains("one of each pair");
    }

    @Test
    void shouldKnowWhichMembersSufficeForBothLayoutsOfAReshape() {
        VolumeRecord four = Volumes.volume(Level.RAID10, 4, Consistency.BITMAP);
        List<Candidate> moving = all(four.withReshape(new ReshapeRecord(3, 2, 0)));
        assertThat(uses(assembled(List.of(moving.get(1), moving.get(2)), DegradedStart.FORCED)))
                .containsExactly(MISSING, IN_SYNC, IN_SYNC, MISSING);
        assertThat(refused(List.of(moving.get(0), moving.get(3))))
                .contains("RAID 10, which is being reshaped, needs one of each pair of before");
        // Slot 1 and 2 are no pair any more, so these might have gone on; not before, when they were one.
        List<Candidate> some = List.of(moving.get(0), moving.get(1), moving.get(3));
        assertThat(refused(some, DegradedStart.REFUSED)).contains("would start degraded");
        List<Candidate> begun = all(Volumes.volume(Level.RAID10, 5, Consistency.BITMAP)
                .withReshape(new ReshapeRecord(4, 0, 0)));
        List<Candidate> half = List.of(begun.get(0), begun.get(2), begun.get(4));
        assertThat(refused(half, DegradedStart.ALLOWED)).as("1 and 3 did for four members")
                .contains("may have been used without");
    }

    @Test
    void shouldRefuseForeignMembers() {
        VolumeRecord volume = raid5();
        VolumeDescription what = volume.description();
        VolumeRecord other = volume.withDescription(new VolumeDescription(new UUID(5, 5), "films",
                what.createdMs(), what.level(), what.blockSize(), what.chunkBlocks(), what.slots(),
                what.volumeBlocks(), what.consistency(), what.regionStripes(), what.journalKey(),
                null, what.layout()));
        List<Candidate> candidates = all(volume);
        candidates.set(1, new Candidate("file:x", SIZE, 512,
                new SuperblockReading.Found(new Superblock(1, 1, other))));
        assertThat(refused(candidates)).isEqualTo("file:x belongs to volume 'films' ("
                + new UUID(5, 5) + "), and file:0 to volume 'music' (" + Volumes.VOLUME
                + "): name the members of one volume");
    }

    @Test
    void shouldRefuseDoubledMembers() {
        List<Candidate> candidates = all(raid5());
        candidates.add(new Candidate("iscsi://again", SIZE, 512, candidates.get(1).reading()));
        assertThat(refused(candidates)).startsWith(
                "file:1 and iscsi://again are both member " + Volumes.member(1) + " of volume");
    }

    @Test
    void shouldRefuseWhatANewerProgramWrote() {
        List<Candidate> candidates = all(raid5());
        candidates.set(2, new Candidate("file:2", SIZE, 512,
                new SuperblockReading.Unknown("format version 2")));
        assertThat(refused(candidates)).isEqualTo("file:2 has a superblock of format version 2, "
                + "which this program does not know: use a newer one");
    }

    @Test
    void shouldRefuseMembersWhoseSizeHasChanged() {
        List<Candidate> candidates = all(raid5());
        candidates.set(2, new Candidate("file:2", SIZE - 512, 512, candidates.get(2).reading()));
        assertThat(refused(candidates)).startsWith("file:2 has become smaller: it has ")
                .endsWith("give it its size back, or leave it out");
        candidates.set(2, new Candidate("file:2", SIZE, 4096, candidates.get(2).reading()));
        assertThat(refused(candidates)).startsWith("file:2 has blocks of 4096 bytes");
        candidates.set(2, new Candidate("file:2", SIZE * 2, 512, candidates.get(2).reading()));
        assertThat(uses(assembled(candidates))).as("a larger one does").containsOnly(IN_SYNC);
    }

    @Test
    void shouldTakeMembersForStaleThatWereFailed() {
        VolumeRecord before = raid5();
        VolumeRecord after = failed(before, 1).next().next();
        List<Candidate> candidates = all(after);
        candidates.set(1, candidate(before, 1));
        assertThat(uses(assembled(candidates))).containsExactly(IN_SYNC, STALE_COVERED, IN_SYNC);

        candidates.set(1, candidate(Volumes.withEvents(before, 6), 1));
        assertThat(uses(assembled(candidates))).as("the bitmap was cleared since")
                .containsExactly(IN_SYNC, STALE, IN_SYNC);

        candidates.remove(0);
        assertThat(refused(candidates)).contains("slot 1 (file:1): it had failed");
    }

    @Test
    void shouldNotTrustABitmapThatIsNotThere() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 2, Consistency.NONE);
        List<Candidate> candidates = all(failed(before, 1));
        candidates.set(1, candidate(before, 1));
        assertThat(uses(assembled(candidates))).containsExactly(IN_SYNC, STALE);
    }

    /** A crash in the middle of a change: a member that had not got it has missed nothing. */
    @Test
    void shouldTakeMembersThatAreOneEventBehind() {
        VolumeRecord before = Volumes.volume(Level.RAID6, 5, Consistency.JOURNAL);
        VolumeRecord after = failed(before, 4);
        List<Candidate> candidates = all(before);
        candidates.set(3, candidate(after, 3));
        assertThat(uses(assembled(candidates))).containsExactly(IN_SYNC, IN_SYNC, IN_SYNC, IN_SYNC,
                STALE_COVERED);
        candidates.set(3, candidate(after.next(), 3));
        assertThat(refused(candidates)).as("two changes are never under way")
                .contains("it has missed 2 changes");
    }

    @Test
    void shouldGoOnWithARebuild() {
        VolumeRecord volume = raid5();
        volume = volume.with(2, volume.members().get(2).rebuilt(80)).next();
        assertThat(uses(assembled(all(volume)))).containsExactly(IN_SYNC, IN_SYNC, REBUILDING);
        List<Candidate> candidates = all(volume.next().next());
        candidates.set(2, candidate(volume, 2));
        assertThat(uses(assembled(candidates))).containsExactly(IN_SYNC, IN_SYNC, STALE);
    }

    /** Each half of a mirror was used while the other one was away. */
    @Test
    void shouldRefuseHalvesThatWentApart() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
        VolumeRecord left = failed(before, 1);
        VolumeRecord right = failed(before, 0);
        assertThat(refused(List.of(candidate(left, 0), candidate(right, 1))))
                .startsWith("file:0 and file:1 of volume")
                .contains("were in use without each other");
        assertThat(refused(List.of(candidate(left, 0), candidate(right.next().next(), 1))))
                .contains("were in use without each other");
        assertThat(uses(assembled(List.of(candidate(right, 1)))))
                .containsExactly(MISSING, IN_SYNC);
        assertThat(refused(List.of(candidate(before, 0),
                candidate(before.withClean(false), 1)))).contains("different stories");
    }

    /** The rebuild of one copy was complete, then the other failed: neither was in use without the other. */
    @Test
    void shouldTakeHalvesTogetherOfWhichOneWasRebuiltFromTheOther() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
        VolumeRecord rebuilding = before.with(1, before.members().get(1).rebuilt(3)).next();
        VolumeRecord through = rebuilding.with(1, before.members().get(1)).next();
        VolumeRecord alone = failed(through, 0);
        assertThat(uses(assembled(List.of(candidate(rebuilding, 0), candidate(alone, 1)))))
                .containsExactly(STALE, IN_SYNC);
        VolumeRecord without = failed(rebuilding, 1).next();
        assertThat(refused(List.of(candidate(without, 0), candidate(alone, 1))))
                .contains("were in use without each other");
    }

    /**
     * A copy came back while another one failed, and was rebuilt from the third, which failed then: the record of the
     * second has no copy in common with the newest, and still precedes it.
     */
    @Test
    void shouldTakeAnOlderRecordOfAMemberThatFailedLaterForAPredecessor() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 3, Consistency.BITMAP);
        VolumeRecord second = failed(before, 1);
        VolumeRecord first = failed(second, 2);
        VolumeRecord rebuilding = first.with(1, first.members().get(1).rebuilt(0)).next();
        VolumeRecord rebuilt = rebuilding.with(1, rebuilding.members().get(1).as(SlotState.ACTIVE))
                .next();
        VolumeRecord newest = failed(rebuilt, 0);
        assertThat(uses(assembled(List.of(candidate(newest, 1), candidate(second, 2)),
                DegradedStart.FORCED))).containsExactly(MISSING, IN_SYNC, STALE_COVERED);
        VolumeRecord apart = failed(second, 0).next();
        assertThat(refused(List.of(candidate(newest, 1), candidate(apart, 2))))
                .contains("were in use without each other");
    }

    /** A half came back, did not take the record that says so, and was used alone after that. */
    @Test
    void shouldRefuseAHalfThatHasMissedItsRebuildAndWentApart() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
        VolumeRecord degraded = failed(before, 1);
        VolumeRecord rebuilding = degraded.with(1, degraded.members().get(1).rebuilt(0)).next();
        VolumeRecord again = failed(rebuilding, 1).next().next();
        VolumeRecord alone = failed(before, 0).next();
        assertThat(alone.events()).isLessThan(again.events());
        assertThat(refused(List.of(candidate(again, 0), candidate(alone, 1))))
                .contains("were in use without each other");
    }

    /**
     * A copy began to be rebuilt from the first one, left before it heard of that, and became a copy of the second one:
     * it has nothing of the first.
     */
    @Test
    void shouldRefuseCopiesThatWentApartBeforeTheirThirdHeardOfItsRebuild() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 3, Consistency.BITMAP);
        VolumeRecord first = failed(failed(before, 1), 2);
        VolumeRecord rebuilding = first.with(2, first.members().get(2).rebuilt(0)).next();
        VolumeRecord second = failed(failed(before, 2), 0);
        VolumeRecord joined = second.with(2, second.members().get(2).rebuilt(0)).next();
        VolumeRecord newest = joined.with(2, joined.members().get(2).as(SlotState.ACTIVE)).next()
                .next();
        assertThat(rebuilding.events()).isLessThan(newest.events());
        assertThat(refused(List.of(candidate(rebuilding, 0), candidate(newest, 1),
                candidate(newest, 2)))).contains("were in use without each other");
    }

    /** It has no data of its own that could be lost, and gets everything. */
    @Test
    void shouldTakeAMemberWhoseRebuildHasFailedAndWhoseSourcesWereReplaced() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 3, Consistency.BITMAP);
        VolumeRecord degraded = failed(before, 1);
        VolumeRecord rebuilding = degraded.with(1, degraded.members().get(1).rebuilt(2)).next();
        VolumeRecord replaced = failed(rebuilding, 1);
        for (int slot : new int[]{0, 2}) {
            replaced = failed(replaced, slot);
            replaced = replaced.with(slot, MemberRecord.active(UUID.randomUUID(),
                    replaced.members().get(slot).dataBlocks())).next();
        }
        assertThat(uses(assembled(List.of(candidate(replaced, 0), candidate(rebuilding, 1),
                candidate(replaced, 2))))).containsExactly(IN_SYNC, STALE, IN_SYNC);
    }

    /** The failure of a member stays known while the member is rebuilt. */
    @Test
    void shouldKeepTheEventsOfAFailureUntilAMemberIsActive() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
        VolumeRecord failed = failed(before, 1);
        assertThat(failed.members().get(1).failedSince()).isEqualTo(failed.events());
        VolumeRecord again = failed(failed.next(), 1).withOut(1);
        assertThat(again.members().get(1).failedSince()).isEqualTo(failed.events());
        VolumeRecord rebuilding = again.with(1, again.members().get(1).rebuilt(2)).next();
        assertThat(rebuilding.members().get(1).failedSince()).isEqualTo(failed.events());
        assertThat(failed(rebuilding, 1).members().get(1).failedSince())
                .isEqualTo(failed.events());
        assertThat(rebuilding.members().get(1).as(SlotState.ACTIVE).failedSince()).isZero();
    }

    /** A half that was given up could not be told so. */
    @Test
    void shouldNotBelieveAHalfThatMayHaveBeenGivenUp() {
        VolumeRecord before = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
        List<Candidate> half = List.of(candidate(before, 0));
        for (DegradedStart degradedStart : List.of(DegradedStart.REFUSED, DegradedStart.ALLOWED)) {
            assertThat(refused(half, degradedStart)).isEqualTo("volume 'music' (" + Volumes.VOLUME
                    + ") may have been used without the members that are here, whose data would be"
                    + " old then: connect the others, or force it if these are lost for good"
                    + " (slot 1: its member " + Volumes.member(1) + " is missing)");
        }
        assertThat(uses(assembled(half, DegradedStart.FORCED))).containsExactly(IN_SYNC, MISSING);
        assertThat(uses(assembled(List.of(candidate(failed(before, 0), 1)))))
                .as("the other one knows that it is alone").containsExactly(MISSING, IN_SYNC);
    }

    @Test
    void shouldAskBeforeItStartsDegraded() {
        List<Candidate> candidates = all(raid5());
        candidates.remove(1);
        assertThat(refused(candidates, DegradedStart.REFUSED)).isEqualTo("volume 'music' ("
                + Volumes.VOLUME
                + ") would start degraded: connect all members, or let it start without (slot 1: "
                + "its member " + Volumes.member(1) + " is missing)");
        VolumeRecord degraded = failed(raid5(), 1);
        assertThat(uses(assembled(List.of(candidate(degraded, 0), candidate(degraded, 2)))))
                .as("as it was used last").containsExactly(IN_SYNC, MISSING, IN_SYNC);
    }

    /**
     * All members, some of them, or the others go on with the volume and note which members are missing. Whatever part
     * is found then starts without force only where the other part has not gone on, nor could have.
     */
    @Test
    void shouldNeverTakeAPartForNewestThatMayNotBe() {
        int starts = 0;
        int refusals = 0;
        for (Level level : List.of(Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10)) {
            for (int count = level.minMembers(); count <= 5; count++) {
                VolumeRecord before = Volumes.volume(level, count, Consistency.BITMAP);
                var layout = Layout.of(before.shape());
                long all = Layout.all(count);
                for (long part = 1; part <= all; part++) {
                    if (!layout.survives(all & ~part)) {
                        continue;
                    }
                    var found = new ArrayList<Candidate>();
                    for (int slot = 0; slot < count; slot++) {
                        if ((part >>> slot & 1) != 0) {
                            found.add(candidate(before, slot));
                        }
                    }
                    boolean couldGoOn = layout.survives(part) && part != all;
                    Outcome outcome = Assembly.of(found, DegradedStart.ALLOWED);
                    assertThat(outcome instanceof Outcome.Assembled)
                            .as(level + " " + count + " " + part).isEqualTo(!couldGoOn);
                    assertThat(Assembly.of(found) instanceof Outcome.Assembled)
                            .isEqualTo(part == all);
                    starts += couldGoOn ? 0 : 1;
                    refusals += couldGoOn ? 1 : 0;
                }
            }
        }
        assertThat(starts).isGreaterThan(20);
        assertThat(refusals).isGreaterThan(20);
    }

    @Test
    void shouldLearnFromASpareWhoIsOld() {
        VolumeRecord before = Volumes.withSpare(Volumes.volume(Level.RAID1, 2, Consistency.BITMAP),
                Volumes.member(7));
        VolumeRecord after = failed(before, 0).next();
        List<Candidate> found = List.of(candidate(before, 0), candidate(after, 2));
        assertThat(refused(found)).contains("slot 0 (file:0): it had failed");
    }

    /** A spare that was away so long that all members are others now, or that had a change which never was finished. */
    @Test
    void shouldNotLetASpareThatWasAwayStandInTheWay() {
        VolumeRecord before = Volumes.withSpare(Volumes.volume(Level.RAID1, 2, Consistency.BITMAP),
                Volumes.member(7));
        VolumeRecord after = before
                .with(0, MemberRecord.active(Volumes.member(8), Volumes.MEMBER_BLOCKS))
                .with(1, MemberRecord.active(Volumes.member(9), Volumes.MEMBER_BLOCKS)).next();
        List<Candidate> found = List.of(candidate(before, 2), candidate(after, 0),
                candidate(after, 1));
        assertThat(uses(assembled(found))).containsOnly(IN_SYNC);
        VolumeRecord other = failed(before, 1);
        found = List.of(candidate(other, 2), candidate(before.next(), 0),
                candidate(before.next(), 1));
        Composition composition = assembled(found);
        assertThat(uses(composition)).containsOnly(IN_SYNC);
        assertThat(composition.spares()).containsExactly(OptionalInt.of(0));
    }

    @Test
    void shouldLeaveOutASpareThatHasBecomeSmaller() {
        VolumeRecord volume = Volumes.withSpare(raid5(), Volumes.member(7));
        List<Candidate> candidates = all(volume);
        candidates.set(3, new Candidate("file:3", SIZE - 512, 512, candidates.get(3).reading()));
        Composition composition = assembled(candidates);
        assertThat(composition.spares()).containsExactly(OptionalInt.empty());
        assertThat(composition.leftOut()).singleElement().satisfies(
                one -> assertThat(one.why()).startsWith("file:3 has become smaller"));
    }

    @Test
    void shouldLeaveOutWhoWasReplaced() {
        VolumeRecord before = raid5();
        VolumeRecord after = before
                .with(1, MemberRecord.active(Volumes.member(8), Volumes.MEMBER_BLOCKS)).next();
        List<Candidate> candidates = all(after);
        candidates.add(new Candidate("file:old", SIZE, 512,
                new SuperblockReading.Found(new Superblock(2, 1, before))));
        Composition composition = assembled(candidates);
        assertThat(uses(composition)).containsOnly(IN_SYNC);
        assertThat(composition.leftOut()).singleElement().satisfies(one -> {
            assertThat(one.candidate()).isEqualTo(3);
            assertThat(one.why()).startsWith("it was taken out of volume 'music'");
        });
    }

    @Test
    void shouldSayWhatIsToBeCompared() {
        assertThat(assembled(all(raid5())).resync()).isEqualTo(Resync.NONE);
        assertThat(assembled(all(raid5().withClean(false))).resync()).isEqualTo(Resync.DIRTY);
        assertThat(assembled(all(raid5().withResyncNext(9))).resync()).isEqualTo(Resync.WHOLE);
        VolumeRecord without = Volumes.volume(Level.RAID5, 3, Consistency.NONE);
        assertThat(assembled(all(without.withClean(false))).resync()).isEqualTo(Resync.WHOLE);
        VolumeRecord striped = Volumes.volume(Level.RAID0, 3, Consistency.NONE);
        assertThat(assembled(all(striped.withClean(false).withResyncNext(0))).resync())
                .isEqualTo(Resync.NONE);
    }
}
