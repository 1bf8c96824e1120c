package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.filter.FaultFilter;
import lunar.filter.FaultPlan;
import lunar.raid.BadBlockList;
import lunar.raid.Completion;
import lunar.raid.FailurePolicy;
import lunar.raid.Raid;
import lunar.raid.RaidListener;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.SlotState;
import lunar.raid.StateKeeper;
import lunar.raid.StripeChange;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.WriteGuard;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;

/** Requests, failures, repairs and scans of a volume, step by step. */
class RaidVolumeTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 32;

    private final Random random = new Random(7);
    private final List<FaultFilter> members = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    /** Whether what has been written again can be read. */
    private boolean isCured = true;
    private final RaidListener listener = new RaidListener() {
        @Override
        public void slotFailed(int slot, StorageException cause) { heard.add("failed " + slot); }

        @Override
        public void volumeFailed(StorageException cause) { heard.add("volume failed"); }

        @Override
        public void repaired(int slot, long memberBlock, long blocks) {
            heard.add("repaired " + slot + ":" + memberBlock + "+" + blocks);
            if (isCured) {
                members.get(slot).plan(FaultPlan.NONE);
            }
        }

        @Override
        public void unrecoverable(int slot, long memberBlock, long blocks) {
            heard.add("unrecoverable " + slot);
        }

        @Override
        public void mismatched(long stripe, OptionalInt slot, boolean repaired) {
            heard.add("mismatched " + stripe + " slot " + slot.orElse(-1));
        }

        @Override
        public void rebuilt(int slot) { heard.add("rebuilt " + slot); }
    };

    private RaidOptions options() {
        return RaidOptions.of(Identity.of("test", new UUID(1, 1))).withListener(listener);
    }

    private VolumeEngine volume(Level level, int count, RaidOptions options) {
        for (int slot = 0; slot < count; slot++) {
            members.add(new FaultFilter(memory(), FaultPlan.NONE, slot));
        }
        return VolumeEngine.of(shape(level, count),
                members.stream().map(member -> RaidMember.of(member, 0)).toList(), options);
    }

    private static Shape shape(Level level, int count) {
        return Shape.of(level, 512, CHUNK, count, CHUNK * ROWS);
    }

    private static BlockDevice memory() { return MemoryDevice.create(CHUNK * ROWS * 512L, 512); }

    private MemorySegment filled(VolumeEngine volume) throws StorageException {
        var content = new byte[(int) volume.sizeBytes()];
        random.nextBytes(content);
        volume.write(0, MemorySegment.ofArray(content));
        return MemorySegment.ofArray(content);
    }

    private static void requireContent(VolumeEngine volume, MemorySegment content)
            throws StorageException {
        MemorySegment buffer = MemorySegment.ofArray(new byte[(int) volume.sizeBytes()]);
        volume.read(0, buffer);
        assertThat(buffer.mismatch(content)).isEqualTo(-1);
    }

    // --- reads that fail ---

    @Test
    void shouldComputeWhatCannotBeReadAndWriteItBack() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options());
        MemorySegment content = filled(volume);
        // Slot 0 has data of stripe 0 at its blocks 0 to 7; memory has physical blocks of 4 KiB.
        members.getFirst().plan(FaultPlan.errors(0).withRange(2, 3).withOperations(Operation.READ));
        requireContent(volume, content);
        assertThat(heard).containsExactly("repaired 0:0+8");
        assertThat(volume.repairs(0)).isEqualTo(1);
        assertThat(volume.state().isWhole()).isTrue();
    }

    @Test
    void shouldFailASlotThatHadToBeRepairedTooOften() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4,
                options().withPolicy(new FailurePolicy(0, 2, 0)));
        MemorySegment content = filled(volume);
        isCured = false;
        members.get(1).plan(FaultPlan.errors(0).withRange(0, 255).withOperations(Operation.READ));
        requireContent(volume, content);
        assertThat(volume.state().slots().get(1)).isEqualTo(SlotState.FAILED);
        assertThat(heard).contains("failed 1").filteredOn(event -> event.startsWith("rep"))
                .hasSize(3);
    }

    @Test
    void shouldTellAMediumErrorWhereRedundancyIsNotEnough() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options());
        MemorySegment content = filled(volume);
        members.get(0).plan(FaultPlan.errors(0).withRange(0, 7).withOperations(Operation.READ));
        members.get(2).plan(FaultPlan.errors(0).withRange(0, 7).withOperations(Operation.READ));
        assertThatThrownBy(() -> requireContent(volume, content))
                .isInstanceOf(MediumException.class);
        assertThat(heard).contains("unrecoverable 0");
        assertThat(volume.state().isWhole()).isTrue();
        // The rest is as it was.
        MemorySegment rest = MemorySegment.ofArray(new byte[(int) content.byteSize() - 24 * 512]);
        volume.read(24, rest);
        assertThat(rest.mismatch(content.asSlice(24 * 512))).isEqualTo(-1);
    }

    // --- writes that fail ---

    @Test
    void shouldGoOnWithoutAMemberThatTakesNoWrites() throws Exception {
        for (Level level : List.of(Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10)) {
            members.clear();
            heard.clear();
            VolumeEngine volume = volume(level, 4, options());
            members.get(2).plan(FaultPlan.errors(1).withOperations(Operation.WRITE));
            MemorySegment content = filled(volume);
            requireContent(volume, content);
            assertThat(heard).as("%s", level).containsExactly("failed 2");
            assertThat(volume.state()).hasToString(
                    "degraded [ACTIVE, ACTIVE, FAILED, ACTIVE]");
        }
    }

    @Test
    void shouldAcknowledgeNoWriteThatMissesASlotBeforeItsFailureIsStable() throws Exception {
        var keeps = new ArrayDeque<Completion>();
        VolumeEngine volume = volume(Level.RAID5, 4,
                options().withKeeper((_, done) -> keeps.add(done)));
        members.get(1).plan(FaultPlan.errors(1).withOperations(Operation.WRITE));
        MemorySegment block = MemorySegment.ofArray(new byte[512]);
        CompletableFuture<Void> first = volume.submitWrite(CHUNK, block); // unit 1 is on slot 1
        CompletableFuture<Void> second = volume.submitWrite(0, block);
        CompletableFuture<Void> flush = volume.submitFlush();
        assertThat(keeps).hasSize(1);
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        keeps.remove().completed(null);
        assertThat(first).isCompleted();
        assertThat(second).isCompleted();
        assertThat(flush).isCompleted();
        assertThat(keeps).isEmpty();
    }

    /** After a crash it would pass for one that has all that was flushed. */
    @Test
    void shouldAcknowledgeNoFlushThatLeavesASlotOutBeforeItsFailureIsStable() throws Exception {
        var keeps = new ArrayDeque<Completion>();
        VolumeEngine volume = volume(Level.RAID1, 2,
                options().withKeeper((_, done) -> keeps.add(done)));
        MemorySegment _ = filled(volume);
        assertThat(volume.fail(1, new DeviceGoneException("taken out by hand"))).isTrue();
        CompletableFuture<Void> flush = volume.submitFlush();
        assertThat(flush).isNotDone();
        keeps.remove().completed(null);
        assertThat(flush).isCompleted();
    }

    @Test
    void shouldTakeNoWritesWhereItsStateCannotBeKept() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options().withKeeper(
                (_, done) -> done.completed(new MediumException("no superblock can be written"))));
        members.get(1).plan(FaultPlan.errors(1).withOperations(Operation.WRITE));
        assertThatThrownBy(() -> filled(volume)).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("no superblock");
        assertThat(heard).contains("volume failed");
    }

    @Test
    void shouldTakeNoWritesAfterMoreLossesThanTheLevelSurvives() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options());
        MemorySegment content = filled(volume);
        assertThat(volume.fail(0, new DeviceGoneException("pulled"))).isTrue();
        requireContent(volume, content);
        assertThat(volume.fail(1, new DeviceGoneException("pulled"))).isFalse();
        assertThat(heard).containsExactly("failed 0", "volume failed");
        assertThatThrownBy(() -> volume.write(0, content)).isInstanceOf(DeviceGoneException.class);
        assertThatThrownBy(volume::flush).isInstanceOf(DeviceGoneException.class);
        assertThatThrownBy(() -> requireContent(volume, content))
                .isInstanceOf(DeviceGoneException.class);
        MemorySegment unit = MemorySegment.ofArray(new byte[CHUNK * 512]);
        volume.read(2 * CHUNK, unit); // slot 2 is there
        assertThat(unit.mismatch(content.asSlice(2 * CHUNK * 512, CHUNK * 512))).isEqualTo(-1);
    }

    /** Work that waits until a failure is stable must not wait for ever if it never will be. */
    @Test
    void shouldEndAllRequestsWhenItFails() throws Exception {
        var keeps = new ArrayDeque<Completion>();
        var abandoned = new ArrayList<String>();
        VolumeEngine volume = volume(Level.RAID5, 4,
                options().withKeeper((_, done) -> keeps.add(done)).withGuard(new WriteGuard() {
                    @Override
                    public void begin(StripeChange change, Ready ready) { ready.ready(null); }

                    @Override
                    public void end(StripeChange change, boolean written) {}

                    @Override
                    public void abandon(StorageException why) { abandoned.add(why.getMessage()); }
                }));
        members.get(1).plan(FaultPlan.errors(1).withOperations(Operation.WRITE));
        MemorySegment block = MemorySegment.ofArray(new byte[512]);
        CompletableFuture<Void> write = volume.submitWrite(CHUNK, block); // unit 1 is on slot 1
        CompletableFuture<Void> flush = volume.submitFlush();
        assertThat(List.of(write, flush)).noneMatch(CompletableFuture::isDone);
        assertThat(volume.fail(2, new DeviceGoneException("pulled"))).isFalse();
        for (CompletableFuture<Void> one : List.of(write, flush)) {
            assertThat(one).isCompletedExceptionally();
            assertThat(one.exceptionNow()).isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("the volume cannot do without it: pulled");
        }
        assertThat(abandoned).singleElement().asString().contains("cannot do without it");
        volume.drain();
        keeps.remove().completed(null); // too late
        volume.close();
    }

    /** Where two say nothing the second one is beyond what the level survives, and its requests end, too. */
    @Test
    void shouldEndWhatWaitsForMembersThatStallWhenItFails() throws Exception {
        var stalling = List.of(new SteppedDevice(CHUNK * ROWS), new SteppedDevice(CHUNK * ROWS));
        VolumeEngine volume = VolumeEngine.of(shape(Level.RAID5, 3),
                List.of(RaidMember.of(memory(), 0), RaidMember.of(stalling.get(0), 0),
                        RaidMember.of(stalling.get(1), 0)),
                options().withPolicy(new FailurePolicy(2, 10, 3)));
        MemorySegment unit = MemorySegment.ofArray(new byte[CHUNK * 512]);
        CompletableFuture<Void> read = volume.submitRead(CHUNK, unit);
        CompletableFuture<Void> write = volume.submitWrite(0, unit);
        for (int i = 0; i < 6; i++) {
            volume.tick();
        }
        assertThat(heard).contains("volume failed");
        assertThat(read).isCompletedExceptionally();
        assertThat(write).isCompletedExceptionally();
        volume.drain();
    }

    @Test
    void shouldLeaveErrorsToTheCallerWithoutRedundancy() throws Exception {
        VolumeEngine volume = volume(Level.RAID0, 4, options());
        MemorySegment content = filled(volume);
        members.get(3).plan(FaultPlan.errors(1));
        assertThatThrownBy(() -> requireContent(volume, content))
                .isInstanceOf(MediumException.class);
        assertThatThrownBy(() -> volume.write(0, content)).isInstanceOf(MediumException.class);
        members.get(3).plan(FaultPlan.NONE);
        volume.write(0, content);
        requireContent(volume, content);
        assertThat(heard).isEmpty();
    }

    @Test
    void shouldFailAndCloseAMemberThatStalls() throws Exception {
        var stalling = new SteppedDevice(CHUNK * ROWS); // ends nothing by itself
        List<RaidMember> slots = List.of(RaidMember.of(memory(), 0), RaidMember.of(stalling, 0),
                RaidMember.of(memory(), 0));
        VolumeEngine volume = VolumeEngine.of(shape(Level.RAID5, 3), slots,
                options().withPolicy(new FailurePolicy(2, 10, 3)));
        MemorySegment unit = MemorySegment.ofArray(new byte[CHUNK * 512]);
        CompletableFuture<Void> read = volume.submitRead(CHUNK, unit);
        CompletableFuture<Void> write = volume.submitWrite(0, unit);
        volume.tick();
        volume.tick();
        assertThat(heard).isEmpty();
        volume.tick();
        assertThat(heard).containsExactly("failed 1");
        assertThat(read).isCompleted();
        assertThat(write).isCompleted();
    }

    // --- guards ---

    @Test
    void shouldAskTheGuardBeforeAStripeIsWrittenAndTellItAfterwards() throws Exception {
        var asked = new ArrayDeque<WriteGuard.Ready>();
        var events = new ArrayList<String>();
        VolumeEngine volume = volume(Level.RAID5, 4, options().withGuard(new WriteGuard() {
            @Override
            public void begin(StripeChange change, Ready ready) {
                events.add("begin %d of %d writes%s".formatted(change.stripe(), change.writes(),
                        change.isFullStripe() ? ", full" : ""));
                asked.add(ready);
            }

            @Override
            public void end(StripeChange change, boolean written) {
                events.add("end " + change.stripe() + " " + written);
            }
        }));
        var block = MemorySegment.ofArray(new byte[512]).fill((byte) 1);
        CompletableFuture<Void> small = volume.submitWrite(24, block);
        MemorySegment stripe = MemorySegment.ofArray(new byte[24 * 512]);
        CompletableFuture<Void> full = volume.submitWrite(48, stripe);
        MemorySegment before = MemorySegment.ofArray(new byte[512]);
        volume.read(24, before);
        assertThat(before.mismatch(MemorySegment.ofArray(new byte[512]))).isEqualTo(-1);
        assertThat(small).isNotDone();
        asked.remove().ready(null);
        assertThat(small).isCompleted();
        asked.remove().ready(new MediumException("the journal is gone"));
        assertThat(full).isCompletedExceptionally();
        assertThat(events).containsExactly("begin 1 of 2 writes", "begin 2 of 4 writes, full",
                "end 1 true");
    }

    @Test
    void shouldGiveTheGuardLargeChangesInParts() throws Exception {
        var sizes = new ArrayList<Integer>();
        VolumeEngine volume = volume(Level.RAID6, 5, options().withGuard(new WriteGuard() {
            @Override
            public int maxBytes() { return 12 * 512; }

            @Override
            public void begin(StripeChange change, Ready ready) {
                int blocks = 0;
                for (int write = 0; write < change.writes(); write++) {
                    blocks += change.blocks(write);
                    assertThat(change.data(write).byteSize()).isEqualTo(change.blocks(write) * 512);
                }
                sizes.add(change.isFullStripe() ? -1 : blocks);
                ready.ready(null);
            }

            @Override
            public void end(StripeChange change, boolean written) {}
        }));
        MemorySegment content = filled(volume);
        assertThat(sizes).hasSize(ROWS).containsOnly(-1);
        sizes.clear();
        volume.fail(4, new DeviceGoneException("pulled"));
        volume.write(0, content);
        assertThat(sizes).hasSizeGreaterThan(ROWS).allMatch(blocks -> blocks <= 12);
        requireContent(volume, content);
    }

    @Test
    void shouldNotReadWhatIsLostUntilItIsWrittenAgain() throws Exception {
        var isLost = new boolean[]{true};
        var waiting = new ArrayDeque<Runnable>();
        VolumeEngine volume = volume(Level.RAID5, 4, options().withBadBlocks(new BadBlockList() {
            @Override
            public boolean overlaps(int slot, long memberBlock, long blocks) {
                return isLost[0] && slot == 1 && memberBlock <= 3 && memberBlock + blocks > 3;
            }

            @Override
            public void written(int slot, long memberBlock, int blocks, Runnable done) {
                isLost[0] = false;
                waiting.add(done);
            }
        }));
        MemorySegment block = MemorySegment.ofArray(new byte[512]);
        MemorySegment unit = MemorySegment.ofArray(new byte[CHUNK * 512]);
        assertThatThrownBy(() -> volume.read(CHUNK, unit)).isInstanceOf(MediumException.class);
        volume.read(0, unit);
        volume.read(CHUNK + 4, block);
        volume.fail(1, new DeviceGoneException("pulled"));
        assertThatThrownBy(() -> volume.read(CHUNK + 3, block))
                .as("parity would make something up").isInstanceOf(MediumException.class);
        CompletableFuture<Void> write = volume.submitWrite(CHUNK + 3, block);
        assertThat(write).as("not stable yet").isNotDone();
        waiting.remove().run();
        assertThat(write).isCompleted();
        volume.read(CHUNK, unit);
    }

    // --- scans ---

    @Test
    void shouldRebuildOnANewMember() throws Exception {
        for (Level level : List.of(Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10)) {
            members.clear();
            heard.clear();
            VolumeEngine volume = volume(level, 5, options());
            MemorySegment content = filled(volume);
            volume.fail(1, new DeviceGoneException("pulled"));
            Rebuild rebuild = volume.replace(1, memory(), 0, ScanOptions.DEFAULT);
            assertThat(rebuild.hasEnded()).isTrue();
            assertThat(rebuild.failure()).isNull();
            assertThat(rebuild.checkpoint()).isEqualTo(rebuild.stripes());
            assertThat(heard).as("%s", level).containsExactly("failed 1", "rebuilt 1");
            assertThat(volume.state().isWhole()).isTrue();
            volume.fail(0, new DeviceGoneException("pulled"));
            if (level != Level.RAID10) {
                requireContent(volume, content);
            }
        }
    }

    @Test
    void shouldGoOnWithARebuildWhereItWasCancelled() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options());
        MemorySegment content = filled(volume);
        volume.fail(3, new DeviceGoneException("pulled"));
        var steps = new ArrayDeque<Runnable>();
        ScanOptions options = ScanOptions.DEFAULT.withBatch(4).withSaveStripes(4)
                .withPace((_, goOn) -> steps.add(goOn));
        Rebuild first = volume.replace(3, memory(), 0, options.withSaveStripes(1_000));
        steps.remove().run();
        first.cancel();
        steps.remove().run();
        assertThat(first.hasEnded()).isTrue();
        assertThat(first.checkpoint()).isEqualTo(8);
        assertThat(volume.state().slots().get(3)).isEqualTo(SlotState.REBUILDING);
        assertThat(volume.state().rebuiltStripes().get(3)).as("not flushed yet").isZero();
        Rebuild second = volume.rebuild(3, options);
        assertThat(second.checkpoint()).isGreaterThanOrEqualTo(12);
        while (!steps.isEmpty()) {
            steps.remove().run();
        }
        assertThat(second.failure()).isNull();
        volume.fail(0, new DeviceGoneException("pulled"));
        requireContent(volume, content);
    }

    /** Until then a crash would find it REBUILDING: with one more loss noted there would be no volume. */
    @Test
    void shouldNotCountOnAMemberBeforeItsMetadataAreThere() throws Exception {
        var states = new ArrayList<VolumeState>();
        var joins = new ArrayDeque<Runnable>();
        var keeper = new StateKeeper() {
            @Override
            public void keep(VolumeState state, Completion done) {
                states.add(state);
                done.completed(null);
            }

            @Override
            public void whenJoined(int slot, Runnable joined) { joins.add(joined); }
        };
        VolumeEngine volume = volume(Level.RAID5, 4, options().withKeeper(keeper));
        MemorySegment content = filled(volume);
        volume.fail(3, new DeviceGoneException("pulled"));
        Rebuild rebuild = volume.replace(3, memory(), 0, ScanOptions.DEFAULT);
        assertThat(rebuild.hasEnded()).isFalse();
        assertThat(states.getLast().slots().get(3)).isEqualTo(SlotState.REBUILDING);

        joins.remove().run();
        assertThat(rebuild.failure()).isNull();
        assertThat(states.getLast().slots().get(3)).isEqualTo(SlotState.ACTIVE);
        requireContent(volume, content);

        volume.fail(3, new DeviceGoneException("pulled again"));
        Rebuild again = volume.replace(3, memory(), 0, ScanOptions.DEFAULT);
        volume.fail(0, new DeviceGoneException("pulled"));
        assertThat(again.failure()).isInstanceOf(DeviceGoneException.class);
        assertThat(heard).contains("volume failed").doesNotContain("failed 0");
        assertThat(states.getLast().slots().get(0)).isEqualTo(SlotState.ACTIVE);
        joins.remove().run(); // too late
        assertThat(states.getLast().slots().get(3)).isEqualTo(SlotState.REBUILDING);
    }

    @Test
    void shouldGiveAMemberThatReturnsOnlyWhatItMissed() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options());
        MemorySegment content = filled(volume);
        volume.fail(2, new DeviceGoneException("unplugged"));
        MemorySegment change = MemorySegment.ofArray(new byte[512]).fill((byte) 5);
        volume.write(5 * 24 + 3, change);
        content.asSlice((5 * 24 + 3) * 512, 512).copyFrom(change);
        var plan = new ArrayList<Long>();
        StripeSet missed = from -> {
            plan.add(from);
            return from <= 5 ? 5 : StripeSet.NONE;
        };
        Rebuild rebuild = volume.readmit(2, members.get(2), 0, () -> missed,
                ScanOptions.DEFAULT);
        assertThat(rebuild.failure()).isNull();
        assertThat(volume.state().isWhole()).isTrue();
        Scrub scrub = volume.scrub(false, ScanOptions.DEFAULT);
        assertThat(scrub.mismatches()).isZero();
        volume.fail(0, new DeviceGoneException("pulled"));
        requireContent(volume, content);
    }

    @Test
    void shouldFindWhichMemberIsWrongAndPutItRight() throws Exception {
        VolumeEngine volume = volume(Level.RAID6, 5, options());
        MemorySegment content = filled(volume);
        MemorySegment wrong = MemorySegment.ofArray(new byte[512]).fill((byte) 9);
        members.get(3).write(2 * CHUNK + 1, wrong); // not detected yet
        Scrub look = volume.scrub(false, ScanOptions.DEFAULT);
        assertThat(look.mismatches()).isEqualTo(1);
        Scrub repair = volume.scrub(true, ScanOptions.DEFAULT);
        assertThat(repair.mismatches()).isEqualTo(1);
        assertThat(heard).containsExactly("mismatched 2 slot 3", "mismatched 2 slot 3");
        assertThat(volume.scrub(false, ScanOptions.DEFAULT).mismatches()).isZero();
        requireContent(volume, content);
    }

    @Test
    void shouldTakeTheDataForTrueWhereNobodyCanTell() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 4, options());
        MemorySegment content = filled(volume);
        members.get(3).write(3, MemorySegment.ofArray(new byte[512])); // P of stripe 0
        assertThat(volume.scrub(true, ScanOptions.DEFAULT).mismatches()).isEqualTo(1);
        assertThat(heard).containsExactly("mismatched 0 slot -1");
        assertThat(volume.scrub(false, ScanOptions.DEFAULT).mismatches()).isZero();
        requireContent(volume, content);
    }

    @Test
    void shouldMakeStaleRedundancyTrue() throws Exception {
        for (Level level : List.of(Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10)) {
            members.clear();
            var slots = new ArrayList<RaidMember>();
            for (int slot = 0; slot < 4; slot++) {
                BlockDevice member = memory();
                var rubbish = new byte[(int) member.sizeBytes()];
                random.nextBytes(rubbish);
                member.write(0, MemorySegment.ofArray(rubbish));
                slots.add(RaidMember.of(member, 0));
            }
            VolumeEngine volume = VolumeEngine.of(shape(level, 4), slots,
                    options().withStale(StripeSet.ALL));
            MemorySegment before = MemorySegment.ofArray(new byte[(int) volume.sizeBytes()]);
            volume.read(0, before);
            assertThat(volume.scrub(false, ScanOptions.DEFAULT).skipped()).isEqualTo(
                    volume.layout().stripes());
            assertThat(volume.resync(ScanOptions.DEFAULT).failure()).isNull();
            assertThat(volume.state().isWhole()).isTrue();
            Scrub scrub = volume.scrub(false, ScanOptions.DEFAULT);
            assertThat(scrub.mismatches() + scrub.skipped()).as("%s", level).isZero();
            requireContent(volume, before);
        }
    }

    // --- shapes that do not fit ---

    @Test
    void shouldRefuseMembersThatDoNotFit() {
        Shape shape = shape(Level.RAID5, 3);
        BlockDevice one = memory();
        assertThatThrownBy(() -> Raid.volume(shape, List.of(one, memory())))
                .hasMessageContaining("3 members, not 2");
        assertThatThrownBy(() -> Raid.volume(shape, List.of(one, memory(), one)))
                .hasMessageContaining("twice");
        assertThatThrownBy(() -> Raid.volume(shape,
                List.of(one, memory(), MemoryDevice.create(4096, 512))))
                .hasMessageContaining("has room for 8 blocks");
        assertThatThrownBy(() -> Raid.volume(shape,
                List.of(one, memory(), MemoryDevice.create(CHUNK * ROWS * 4096L, 4096))))
                .hasMessageContaining("blocks of 4096");
    }
}
