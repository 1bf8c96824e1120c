package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import lunar.block.InvalidRequestException;
import lunar.block.ReservationConflictException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.scsi.Reservations;
import lunar.initiator.scsi.ScsiUnit;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.reservation.ReservationFullStatus.Registration;
import lunar.scsi.reservation.ReservationStatus.Held;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.TransportId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests two initiators that compete for a unit of Lunar's target with persistent reservations. */
@Timeout(180)
class ScsiReservationsTest {
    private static final String ONE = "iqn.2026-11.org.lunar:one";
    private static final String OTHER = "iqn.2026-11.org.lunar:other";
    private static final long KEY_1 = 0x1111;
    private static final long KEY_2 = 0x8222_0000_0000_2222L;

    private ServedTarget target;
    private Initiator firstInitiator;
    private Initiator secondInitiator;
    private LunDevice firstDisk;
    private LunDevice secondDisk;
    private Reservations first;
    private Reservations second;

    @BeforeEach
    void open() throws Exception {
        target = ServedTarget.of("ram:1MiB");
        firstInitiator = Initiator.create(ONE);
        secondInitiator = Initiator.create(OTHER);
        firstDisk = firstInitiator.login(target.url(0)).open(Lun.ZERO);
        secondDisk = secondInitiator.login(target.url(0)).open(Lun.ZERO);
        first = ScsiUnit.of(firstDisk).reservations();
        second = ScsiUnit.of(secondDisk).reservations();
    }

    @AfterEach
    void close() throws Exception {
        firstInitiator.close();
        secondInitiator.close();
        target.close();
    }

    private static void write(LunDevice disk) throws Exception {
        disk.write(0, MemorySegment.ofArray(new byte[512]));
    }

    private static void read(LunDevice disk) throws Exception {
        disk.read(0, MemorySegment.ofArray(new byte[512]));
    }

    @Test
    void shouldKeepOthersFromWriting() throws Exception {
        assertThat(first.reservation().held()).isEmpty();
        first.register(KEY_1);
        first.reserve(KEY_1, ReservationType.WRITE_EXCLUSIVE);
        assertThat(second.reservation().held())
                .contains(new Held(KEY_1, ReservationType.WRITE_EXCLUSIVE));
        write(firstDisk);
        read(secondDisk);
        assertThatThrownBy(() -> write(secondDisk))
                .isInstanceOf(ReservationConflictException.class);
        second.register(KEY_2);
        assertThat(first.keys().keys()).containsExactlyInAnyOrder(KEY_1, KEY_2);
        assertThatThrownBy(() -> write(secondDisk))
                .isInstanceOf(ReservationConflictException.class);
        assertThatThrownBy(() -> second.reserve(KEY_2, ReservationType.EXCLUSIVE_ACCESS))
                .isInstanceOf(ReservationConflictException.class);

        first.release(KEY_1, ReservationType.WRITE_EXCLUSIVE);
        write(secondDisk);
        second.reserve(KEY_2, ReservationType.EXCLUSIVE_ACCESS);
        assertThatThrownBy(() -> read(firstDisk)).isInstanceOf(ReservationConflictException.class);
        second.clear(KEY_2);
        read(firstDisk);
        assertThat(first.keys().keys()).isEmpty();
    }

    @Test
    void shouldPreemptAndReportTheVictim() throws Exception {
        var told = new ConcurrentLinkedQueue<AdditionalSense>();
        first.register(KEY_1);
        first.reserve(KEY_1, ReservationType.EXCLUSIVE_ACCESS_REGISTRANTS_ONLY);
        second.registerAnyhow(KEY_2);
        firstDisk.onAttention(told::add);

        second.preempt(KEY_2, KEY_1, ReservationType.WRITE_EXCLUSIVE);
        assertThat(second.reservation().held())
                .contains(new Held(KEY_2, ReservationType.WRITE_EXCLUSIVE));
        assertThat(first.keys().keys()).containsExactly(KEY_2);
        ServedTarget.await("the victim is told",
                () -> told.contains(AdditionalSense.REGISTRATIONS_PREEMPTED));
        assertThatThrownBy(() -> write(firstDisk)).isInstanceOf(ReservationConflictException.class);
        assertThatThrownBy(() -> first.reserve(KEY_1, ReservationType.WRITE_EXCLUSIVE))
                .isInstanceOf(ReservationConflictException.class);

        first.register(KEY_1);
        first.preemptAndAbort(KEY_1, KEY_2, ReservationType.EXCLUSIVE_ACCESS);
        write(firstDisk);
        assertThatThrownBy(() -> read(secondDisk)).isInstanceOf(ReservationConflictException.class);
    }

    @Test
    void shouldReportEverythingAndHandOver() throws Exception {
        first.register(KEY_1, Reservations.Option.ALL_TARGET_PORTS);
        second.register(KEY_2);
        first.change(KEY_1, 77);
        first.reserve(77, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
        assertThat(first.capabilities().persistenceCapable()).as("its state is in memory")
                .isFalse();
        assertThatThrownBy(() -> first.change(77, 77, Reservations.Option.PERSIST))
                .isInstanceOf(InvalidRequestException.class);
        List<Registration> all = second.fullStatus().registrations();
        assertThat(all).hasSize(2);
        Registration holder = all.stream().filter(it -> it.holds().isPresent()).findFirst()
                .orElseThrow();
        Registration mine = all.stream().filter(it -> it.holds().isEmpty()).findFirst()
                .orElseThrow();
        assertThat(holder.key()).isEqualTo(77);
        assertThat(holder.initiator().name()).isEqualTo(ONE);
        assertThat(mine.initiator().name()).isEqualTo(OTHER);

        first.registerAndMove(77, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY, 88, true,
                mine.relativePort(), mine.initiator());
        assertThat(second.reservation().held())
                .contains(new Held(88, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY));
        assertThatThrownBy(() -> write(firstDisk)).isInstanceOf(ReservationConflictException.class);
        write(secondDisk);
        second.unregister(88);
        write(firstDisk);
    }

    @Test
    void shouldRegisterOthersWhereTheTargetCan() throws Exception {
        assertThat(first.capabilities().specifiesInitiators()).isTrue();
        first.registerFor(List.of(new TransportId(OTHER, OptionalLong.empty())), KEY_1);
        assertThat(first.keys().keys()).containsOnly(KEY_1).hasSizeGreaterThan(1);
        second.reserve(KEY_1, ReservationType.EXCLUSIVE_ACCESS);
        assertThatThrownBy(() -> read(firstDisk)).isInstanceOf(ReservationConflictException.class);
    }
}
