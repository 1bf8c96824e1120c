package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.scsi.Reservations;
import lunar.initiator.scsi.ScsiUnit;
import lunar.initiator.scsi.UnitIdentity;
import lunar.scsi.Lun;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.reservation.ReservationStatus.Held;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.vpd.StandardInquiry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an application's SCSI calls on a unit of tgtd, as far as tgtd supports them. */
class ScsiTgtdIT {
    private static final String ONE = "iqn.2026-11.org.lunar:one";
    private static final String OTHER = "iqn.2026-11.org.lunar:other";

    @TempDir
    private static Path folder;

    private static Tgtd tgtd;

    @BeforeAll
    static void start() throws Exception {
        tgtd = Tgtd.start(folder);
        tgtd.addTarget("disk", 32 << 20);
    }

    @AfterAll
    static void stop() {
        if (tgtd != null) {
            tgtd.close();
        }
    }

    private static Session login(Initiator initiator) throws Exception {
        return initiator.login("iscsi://" + tgtd.portal() + "/" + Tgtd.name("disk"));
    }

    @Test
    void shouldReportWhatAUnitIs() throws Exception {
        try (var initiator = Initiator.create(ONE);
                Session session = login(initiator);
                Session again = login(initiator)) {
            assertThat(ScsiUnit.scan(session)).extracting(unit -> unit.lun().number())
                    .containsExactly(0, 1);
            ScsiUnit controller = ScsiUnit.of(session, Lun.ZERO);
            assertThat(controller.inquiry().standard().deviceType())
                    .isEqualTo(StandardInquiry.CONTROLLER);
            ScsiUnit unit = ScsiUnit.of(session, Lun.of(1));
            assertThat(unit.capacity().lastLba()).isEqualTo((32 << 20) / 512 - 1);
            for (int code : unit.inquiry().pages()) {
                assertThat(unit.inquiry().page(code).pageCode()).isEqualTo(code);
            }
            assertThat(unit.inquiry().serialNumber()).isNotEmpty();
            assertThat(unit.modes().page(CachingModePage.CODE).code())
                    .isEqualTo(CachingModePage.CODE);
            assertThat(unit.commands().all().commands()).isNotEmpty();
            assertThat(UnitIdentity.sameUnit(unit, ScsiUnit.of(again, Lun.of(1)))).isTrue();
            assertThat(UnitIdentity.sameUnit(unit, controller)).isFalse();
            assertThat(unit.erasures().progress()).isEmpty();
            assertThatThrownBy(() -> unit.copies().parameters()).isInstanceOfAny(
                    NotSupportedException.class, InvalidRequestException.class);
        }
    }

    @Test
    void shouldVerify() throws Exception {
        try (var initiator = Initiator.create(ONE);
                Session session = login(initiator);
                LunDevice disk = session.open(Lun.of(1))) {
            ScsiUnit unit = ScsiUnit.of(disk);
            byte[] data = new byte[4096];
            Arrays.fill(data, (byte) 0x3c);
            disk.write(16, MemorySegment.ofArray(data));
            unit.blocks().verify(0, 100);
            unit.blocks().verify(16, MemorySegment.ofArray(data));
            data[100] = 0;
            assertThatThrownBy(() -> unit.blocks().verify(16, MemorySegment.ofArray(data)))
                    .isInstanceOf(StorageException.class);
        }
    }

    @Test
    void shouldPreemptAReservation() throws Exception {
        try (var one = Initiator.create(ONE);
                var other = Initiator.create(OTHER);
                Session firstSession = login(one);
                Session secondSession = login(other);
                LunDevice firstDisk = firstSession.open(Lun.of(1));
                LunDevice secondDisk = secondSession.open(Lun.of(1))) {
            Reservations first = ScsiUnit.of(firstDisk).reservations();
            Reservations second = ScsiUnit.of(secondDisk).reservations();
            var block = MemorySegment.ofArray(new byte[512]);
            first.register(1);
            second.register(2);
            first.reserve(1, ReservationType.WRITE_EXCLUSIVE);
            assertThat(second.keys().keys()).containsExactlyInAnyOrder(1L, 2L);
            assertThat(second.reservation().held())
                    .contains(new Held(1, ReservationType.WRITE_EXCLUSIVE));
            assertThatThrownBy(() -> secondDisk.write(0, block))
                    .isInstanceOf(ReservationConflictException.class);
            second.preempt(2, 1, ReservationType.EXCLUSIVE_ACCESS);
            secondDisk.write(0, block);
            assertThatThrownBy(() -> firstDisk.read(0, block))
                    .isInstanceOf(ReservationConflictException.class);
            second.clear(2);
            firstDisk.read(0, block);
            assertThat(first.keys().keys()).isEmpty();
        }
    }
}
