package lunar.raid.service.ownership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.DeadlineException;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import lunar.raid.service.FlakyDisk;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The record of one member, which one owner writes while another one may. */
class OwnedMemberTest {
    private static final UUID VOLUME = UUID.randomUUID();

    private final BlockDevice disk;
    private FlakyDisk flaky;
    private OwnedMember member;

    OwnedMemberTest() throws StorageException {
        disk = Devices.open("ram:1MiB");
        flaky = new FlakyDisk(disk, true);
        member = new OwnedMember(0, flaky, false);
    }

    private static OwnerRecord record(UUID volume, long epoch, UUID token, long beat) {
        return new OwnerRecord(volume, epoch, token, beat, false, 6000, 0,
                new OwnerRecord.ProcessId(UUID.randomUUID(), 1, 4711, 1, 0, "alpha"), "");
    }

    private static OwnerRecord record(long epoch) {
        return record(VOLUME, epoch, UUID.randomUUID(), 1);
    }

    /** The record that a process of another host finds there. */
    private OwnerRecord there() throws StorageException {
        return new OwnerRecordStore(disk).read().orElseThrow();
    }

    /** A process of another host writes its record. */
    private void write(OwnerRecord record) throws StorageException {
        var place = new OwnerRecordStore(disk);
        var _ = place.read();
        assertThat(place.swap(record)).isTrue();
    }

    /** It is ours, and its last beat had no answer. */
    private OwnerRecord lost(boolean isAtomic) throws StorageException {
        flaky = new FlakyDisk(disk, isAtomic);
        member = new OwnedMember(0, flaky, false);
        OwnerRecord mine = record(3);
        var _ = member.read();
        assertThat(member.take(mine)).isTrue();
        assertThat(member.isAtomic()).isEqualTo(isAtomic);
        flaky.toFail.set(1);
        assertThatThrownBy(() -> member.beat(mine.next())).isInstanceOf(DeadlineException.class);
        return mine;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotWriteOverALaterOwnerAfterABeatThatFailed(boolean isAtomic) throws Exception {
        OwnerRecord mine = lost(isAtomic);
        OwnerRecord later = record(4);
        write(later);
        assertThat(member.beat(mine.next())).contains(later);
        assertThat(there()).isEqualTo(later);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotWriteOverALaterOwnerThatHasStopped(boolean isAtomic) throws Exception {
        OwnerRecord mine = lost(isAtomic);
        OwnerRecord later = record(4).asReleased();
        write(later);
        assertThat(member.beat(mine.next())).contains(later);
        assertThat(there()).isEqualTo(later);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotReleaseWhatIsALaterOwners(boolean isAtomic) throws Exception {
        OwnerRecord mine = lost(isAtomic);
        OwnerRecord later = record(4);
        write(later);
        member.release(mine);
        assertThat(there()).isEqualTo(later);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldGoOnAfterABeatThatFailed(boolean isAtomic) throws Exception {
        OwnerRecord mine = lost(isAtomic);
        OwnerRecord next = mine.next();
        assertThat(member.beat(next)).isEmpty();
        assertThat(there()).isEqualTo(next);
        flaky.toFail.set(1);
        assertThatThrownBy(() -> member.beat(next.next())).isInstanceOf(DeadlineException.class);
        member.release(next);
        assertThat(there().released()).isTrue();
    }

    @Test
    void shouldNotWriteOverTheRecordOfAnotherVolume() throws Exception {
        OwnerRecord mine = lost(true);
        OwnerRecord other = record(UUID.randomUUID(), 1, UUID.randomUUID(), 1);
        write(other);
        assertThatThrownBy(() -> member.beat(mine.next()))
                .isInstanceOf(OwnedMember.NotAMemberException.class)
                .hasMessageContaining("another volume now, which host alpha pid 4711 runs");
        assertThat(there()).isEqualTo(other);
    }

    @Test
    void shouldNotWriteToAMemberThatWasMadeBlank() throws Exception {
        OwnerRecord mine = lost(true);
        disk.write(OwnerRecordStore.AT_BYTES / 512, MemorySegment.ofArray(new byte[512]));
        assertThatThrownBy(() -> member.beat(mine.next()))
                .isInstanceOf(OwnedMember.NotAMemberException.class)
                .hasMessageContaining("has lost its owner record");
        assertThat(new OwnerRecordStore(disk).read()).isEmpty();
    }

    @Test
    void shouldWriteOverAnEarlierOwner() throws Exception {
        OwnerRecord mine = lost(true);
        write(record(2));
        assertThat(member.beat(mine.next())).isEmpty();
        assertThat(there()).isEqualTo(mine.next());
    }

    @Test
    void shouldNotRelyOnACompareAndWriteThatOtherHostsDoNotTakePartIn() throws Exception {
        assertThat(member.isAtomic()).isTrue();
        flaky.comparesForAll = false; // a disk that several hosts are connected to
        assertThat(member.isAtomic()).isFalse();
        var _ = member.read();
        assertThat(member.take(record(3))).isTrue();
    }

    // --- a record that is written late, over that of another owner ---

    private static final long SECOND = 1_000_000_000;
    private final AtomicLong now = new AtomicLong();

    /** A member that is ours; each write of it takes some time, in which another host does something. */
    private OwnerRecord ours(boolean isAtomic) throws StorageException {
        flaky = new FlakyDisk(disk, isAtomic);
        member = new OwnedMember(0, flaky, OwnershipOptions.DEFAULT, now::get);
        OwnerRecord mine = record(3);
        var _ = member.read();
        assertThat(member.take(mine)).isTrue();
        assertThat(member.wasLate()).isFalse();
        return mine;
    }

    private void during(long timeNs, @Nullable OwnerRecord other) {
        flaky.beforeWrite = () -> {
            flaky.beforeWrite = () -> {};
            now.addAndGet(timeNs);
            try {
                if (other != null) {
                    write(other);
                }
            } catch (StorageException e) {
                throw new AssertionError(e);
            }
        };
    }

    @Test
    void shouldNotReviveAnOwnerThatWritesOverALaterOne() throws Exception {
        OwnerRecord mine = ours(false);
        OwnerRecord later = record(4);
        during(20 * SECOND, later); // stopped between the comparison and the write
        assertThatThrownBy(() -> member.beat(mine.next())).isInstanceOf(DeadlineException.class)
                .hasMessageContaining("written too late");
        assertThat(there()).as("written over").isEqualTo(mine.next());
        assertThat(member.confirmedNs).isZero();
        OwnerRecord next = mine.next().next();
        assertThatThrownBy(() -> member.beat(next)).isInstanceOf(DeadlineException.class);
        write(later.next()); // its next beat
        assertThat(member.beat(next)).contains(later.next());
        member.release(next);
        assertThat(there()).isEqualTo(later.next());
    }

    @Test
    void shouldGoOnAfterALateRecordThatNoOwnerReplaces() throws Exception {
        OwnerRecord mine = ours(false);
        during(20 * SECOND, null);
        assertThatThrownBy(() -> member.beat(mine.next())).isInstanceOf(DeadlineException.class);
        now.addAndGet(6 * SECOND);
        during(SECOND, null); // the disk is slow, and the record may be as old as the beginning of the first write
        assertThatThrownBy(() -> member.beat(mine.next())).isInstanceOf(DeadlineException.class);
        now.addAndGet(6 * SECOND);
        during(SECOND, null);
        OwnerRecord next = mine.next().next();
        assertThat(member.beat(next)).isEmpty();
        assertThat(member.confirmedNs).isEqualTo(33 * SECOND);
        assertThat(there()).isEqualTo(next);
    }

    @ParameterizedTest
    @CsvSource({"11000, 0, false", "100, 60000, false", "20000, 0, true"})
    void shouldConfirmARecordThatReplacesNoOther(long writeMs, long beforeMs, boolean isAtomic)
            throws Exception {
        OwnerRecord mine = ours(isAtomic);
        now.addAndGet(beforeMs * 1_000_000);
        during(writeMs * 1_000_000, null);
        assertThat(member.beat(mine.next())).isEmpty();
        assertThat(member.confirmedNs).isEqualTo(beforeMs * 1_000_000);
    }

    @Test
    void shouldTellThatAMemberWasTakenLate() throws Exception {
        var _ = ours(false);
        during(SECOND, null);
        assertThat(member.take(record(4))).isTrue();
        assertThat(member.wasLate()).isTrue();
    }
}
