package lunar.raid.service.ownership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeadlineException;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import lunar.raid.service.FlakyDisk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
}
