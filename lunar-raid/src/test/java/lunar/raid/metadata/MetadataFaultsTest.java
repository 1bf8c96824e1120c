package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.DeadlineException;
import lunar.block.InvalidRequestException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.FailurePolicy;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.page.Broadcast;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of requests for metadata, and their effect on the volume. */
class MetadataFaultsTest {
    private final long seed = Seed.next();

    private TestVolume created(Level level, int members) throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level, new Random(seed));
        test.create(level, members, 0);
        test.open();
        test.resync();
        test.fill();
        return test;
    }

    /** The one that went away was given up, and does not know it. */
    @Test
    void shouldNotBelieveTheHalfOfAMirrorThatWasGivenUp() throws StorageException {
        TestVolume test = created(Level.RAID1, 2);
        test.disks.get(1).breakDown();
        test.fill();
        assertThat(test.volume.state().slots()).containsExactly(SlotState.ACTIVE,
                SlotState.FAILED);
        test.restart();
        assertThat(test.assembly(0)).isInstanceOfSatisfying(Outcome.Refused.class, refused -> {
            assertThat(refused.why()).contains("may have been used without the members that are"
                    + " here").doesNotContain("\n");
        });
        test.open(1);
        test.check();
        test.stop();
        test.open();
        test.check();
        assertThat(test.composition.slots().get(1).use()).isEqualTo(Composition.Use.STALE_COVERED);
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldSendMetadataAgainToMembersThatAreBusy(Level level) throws StorageException {
        TestVolume test = created(level, 4);
        test.disks.forEach(QueuedDevice::isBusyAtFirst);
        test.fill();
        for (int i = 0; i < 3; i++) {
            test.metadata.tick();
            test.settle();
        }
        assertThat(test.volume.state().slots()).containsOnly(SlotState.ACTIVE);
        test.metadata.stop(failure -> assertThat(failure).isNull());
        test.settle();
        test.restart();
        test.disks.forEach(QueuedDevice::isBusyAtFirst);
        test.open();
        test.check();
        test.checkRedundancy();
    }

    @Test
    void shouldReportAMemberThatIsBusyTooOften() {
        var disk = new SteppedDevice(64);
        var told = new ArrayList<StorageException>();
        var set = new MemberSet(1, new FailurePolicy(2, 10, 0), (_, why) -> told.add(why));
        set.add(0, disk);
        var over = new ArrayList<Boolean>();
        Broadcast broadcast = Broadcast.over(set, () -> over.add(true));
        broadcast.start(1, Broadcast.FLUSH);
        for (int tick = 0; tick < Broadcast.MAX_WAITS; tick++) {
            refuseAll(disk);
            assertThat(told).isEmpty();
            set.tick();
        }
        refuseAll(disk);
        assertThat(told).hasSize(1);
        assertThat(over).isEmpty();
        set.drop(0);
        assertThat(over).hasSize(1);
    }

    /** At once, and each time that it is asked again before the next tick. */
    private static void refuseAll(SteppedDevice disk) {
        for (int i = 0; i < 3; i++) {
            assertThat(disk.pending()).extracting(step -> step.request().operation())
                    .containsExactly(Operation.FLUSH);
            disk.pending().getFirst().fail(new BusyException("busy"));
        }
        assertThat(disk.pending()).isEmpty();
    }

    @Test
    void shouldWaitForAMemberThatHasNoSpaceForMetadata() {
        var disk = new SteppedDevice(64);
        var set = new MemberSet(1, new FailurePolicy(2, 10, 2), (_, why) -> {
            throw new AssertionError(why);
        });
        set.add(0, disk);
        var over = new ArrayList<Boolean>();
        Broadcast broadcast = Broadcast.over(set, () -> over.add(true));
        broadcast.start(1, (_, _, request) -> request.asWrite(0, 1, MemorySegment.ofArray(
                new byte[512]), true));
        for (int tick = 0; tick < 10; tick++) {
            disk.pending().getFirst().fail(new NoSpaceException("full"));
            assertThat(disk.pending()).isEmpty();
            set.tick();
        }
        assertThat(over).isEmpty();
        disk.pending().getFirst().end();
        assertThat(over).hasSize(1);
        assertThat(broadcast.succeeded()).isEqualTo(1);
    }

    /** A member that has failed gets no further requests, and nor does another one in its slot. */
    @Test
    void shouldNotAskAMemberAgainThatWasDroppedWhileItWasBusy() {
        var disk = new SteppedDevice(64);
        var set = new MemberSet(1, new FailurePolicy(0, 10, 0), (_, _) -> {});
        set.add(0, disk);
        var over = new ArrayList<Boolean>();
        Broadcast broadcast = Broadcast.over(set, () -> over.add(true));
        broadcast.start(1, Broadcast.FLUSH);
        disk.pending().getFirst().fail(new BusyException("busy"));
        set.drop(0);
        assertThat(over).hasSize(1);
        set.tick();
        assertThat(disk.pending()).isEmpty();
        assertThat(broadcast.succeeded()).isZero();
    }

    @Test
    void shouldGiveUpAMemberThatDoesNotAnswer() throws StorageException {
        var test = new TestVolume("seed " + seed, new Random(seed));
        test.create(Level.RAID5, 4, 0);
        test.options = OpenOptions.DEFAULT.withPolicy(new FailurePolicy(2, 10, 3));
        test.open();
        test.resync();
        test.fill();
        for (int i = 0; i < 3; i++) { // until no region has a bit
            test.metadata.tick();
            test.settle();
        }
        assertThat(test.metadata.bitmap().marked()).isZero();
        var end = new ArrayList<StorageException>();
        var data = MemorySegment.ofArray(new byte[512]);
        test.volume.submit(new BlockRequest().asWrite(0, 1, data, true)
                .onCompletion((_, failure) -> end.add(failure)));
        QueuedDevice silent = test.disks.get(3);
        List<QueuedDevice> others = test.disks.subList(0, 3);
        QueuedDevice.settle(others, test.random);
        assertThat(silent.pending()).as("it has the bitmap to write").isPositive();
        for (int i = 0; i < 2; i++) {
            test.volume.tick();
            QueuedDevice.settle(others, test.random);
        }
        assertThat(test.volume.state().slots()).containsOnly(SlotState.ACTIVE);
        assertThat(end).isEmpty();
        for (int i = 0; i < 4; i++) { // what it had from the start of the write, and from later on
            test.volume.tick();
            QueuedDevice.settle(others, test.random);
        }
        assertThat(test.volume.state().slots().get(3)).isEqualTo(SlotState.FAILED);
        assertThat(end).hasSize(1).containsOnlyNulls();
        assertThat(test.metadata.record().members().get(3).state()).isEqualTo(SlotState.FAILED);
    }

    @Test
    void shouldReportASilentMemberOnce() {
        var told = new ArrayList<StorageException>();
        var set = new MemberSet(1, new FailurePolicy(2, 10, 2), (_, why) -> told.add(why));
        set.add(0, new SteppedDevice(64));
        Broadcast broadcast = Broadcast.over(set, () -> {});
        broadcast.start(1, Broadcast.FLUSH);
        set.tick();
        assertThat(told).isEmpty();
        for (int i = 0; i < 5; i++) {
            set.tick();
        }
        assertThat(told).hasSize(1).hasOnlyElementsOfType(DeadlineException.class);
    }

    /** Each flush of the host makes entries free: none is left for a replay, and the journal need not flush itself. */
    @Test
    void shouldFreeEntriesWithAFlushOfTheHost() throws StorageException {
        TestVolume test = created(Level.RAID5, 4);
        var data = MemorySegment.ofArray(new byte[512]);
        for (int block = 0; block < 10; block++) {
            assertThat(test.does(new BlockRequest().asWrite(block, 1, data, false))).isNull();
        }
        assertThat(test.metadata.journal().live()).isEqualTo(10);
        assertThat(test.does(new BlockRequest().asFlush())).isNull();
        assertThat(test.metadata.journal().live()).isZero();
    }

    /** Entries written after the beginning of a flush are not stable with it. */
    @Test
    void shouldNotFreeEntriesThatCameDuringAFlush() throws StorageException {
        TestVolume test = created(Level.RAID5, 4);
        var flushed = new ArrayList<StorageException>();
        test.volume.submit(new BlockRequest().asFlush()
                .onCompletion((_, failure) -> flushed.add(failure)));
        for (int i = 0; i < 3; i++) { // the last member is still at it
            test.disks.get(i).step(test.random);
        }
        long begun = test.metadata.journal().beforeFlush();
        var entry = new JournalEntry(512, (_, failure) -> assertThat(failure).isNull())
                .asData(1).add(0, 8, MemorySegment.ofArray(new byte[512]));
        test.metadata.journal().append(entry);
        QueuedDevice.settle(test.disks.subList(0, 3), test.random);
        test.metadata.journal().written(entry, false);
        test.settle();
        assertThat(flushed).hasSize(1).containsOnlyNulls();
        assertThat(test.metadata.journal().live()).isEqualTo(1);
        test.metadata.journal().afterFlush(begun);
        assertThat(test.metadata.journal().live()).as("begun before").isEqualTo(1);
    }

    private static final UUID OWN = new UUID(7, 7);
    private static final UUID OTHER = new UUID(8, 8);

    /** A volume with its journal on a device of its own, that is not there any more. */
    private TestVolume withOwnJournal(boolean isClean) throws StorageException {
        var test = new TestVolume("seed " + seed, new Random(seed));
        var table = new ArrayList<Creation.Member>();
        for (int i = 0; i < 4; i++) {
            int disk = test.add(Level.RAID1, TestVolume.STRIPES);
            table.add(new Creation.Member("disk:" + i, test.uuids.get(disk),
                    test.disks.get(disk)));
        }
        var wish = new Creation.Wish(test.uuid(), "music", 0, Level.RAID5, Consistency.JOURNAL,
                TestVolume.CHUNK_BYTES, 1 << 20, test.uuid(), OWN);
        VolumeRecord record = Creation.create(wish, table, false);
        var journal = QueuedDevice.create(1 << 20, test.random);
        Creation.createJournal(record, "disk:journal", journal, false);
        test.journal = journal;
        test.disks.add(journal);
        test.uuids.add(OWN);
        test.open(4);
        test.resync();
        test.fill();
        if (isClean) {
            test.stop();
        } else {
            test.restart();
        }
        test.journal = null;
        test.disks.removeLast();
        test.uuids.removeLast();
        return test;
    }

    @Test
    void shouldAskBeforeAJournalIsGivenUp() throws StorageException {
        TestVolume test = withOwnJournal(true);
        assertThatThrownBy(() -> test.open()).isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("has its journal on a device of its own, " + OWN);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldGoOnWithoutAJournalThatIsLost(boolean isClean) throws StorageException {
        TestVolume test = withOwnJournal(isClean);
        test.options = OpenOptions.DEFAULT.withJournalReset(JournalReset.withoutJournal());
        test.open();
        assertThat(test.metadata.stale().next(0)).as("parity may be wrong anywhere")
                .isEqualTo(isClean ? StripeSet.NONE : 0);
        test.resync();
        assertThat(test.metadata.record().description().consistency())
                .isEqualTo(Consistency.BITMAP);
        test.check();
        test.fill();
        test.stop();
        test.options = OpenOptions.DEFAULT;
        test.open();
        assertThat(test.composition.resync()).isEqualTo(Resync.NONE);
        test.check();
        test.checkRedundancy();
    }

    @Test
    void shouldTakeANewJournalInPlaceOfOneThatIsLost() throws StorageException {
        TestVolume test = withOwnJournal(false);
        test.journal = QueuedDevice.create(1 << 20, test.random);
        test.options = OpenOptions.DEFAULT
                .withJournalReset(JournalReset.to(OTHER, new UUID(9, 9)));
        test.disks.add(test.journal);
        test.uuids.add(OTHER);
        test.open(4);
        test.resync();
        test.fill();
        assertThat(test.metadata.record().description().journalDevice()).isEqualTo(OTHER);
        test.restart();
        test.journal = test.disks.get(4);
        test.options = OpenOptions.DEFAULT;
        test.open(4);
        assertThat(test.composition.resync()).isEqualTo(Resync.DIRTY);
        test.check();
        test.checkRedundancy();
    }

    @Test
    void shouldNotGiveAJournalUpThatADegradedVolumeNeeds() throws StorageException {
        TestVolume test = withOwnJournal(false);
        test.degradedStart = DegradedStart.ALLOWED;
        test.options = OpenOptions.DEFAULT.withJournalReset(JournalReset.withoutJournal());
        assertThatThrownBy(() -> test.open(2)).isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("connect all members first");
        TestVolume clean = withOwnJournal(true);
        clean.degradedStart = DegradedStart.ALLOWED;
        clean.options = test.options;
        clean.open(2);
        clean.check();
    }
}
