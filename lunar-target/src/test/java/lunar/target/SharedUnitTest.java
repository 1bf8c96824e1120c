package lunar.target;

import static lunar.target.PrimaryCommandsTest.cdb;
import static lunar.target.PrimaryCommandsTest.in;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.scsi.Status;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReservationFullStatus;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitSpec;
import lunar.scsi.target.block.DiskSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a logical unit in two targets: state of a nexus or a port belongs to each target. */
class SharedUnitTest {
    private static final String OTHER = "iqn.2026-11.org.lunar:other";
    private static final byte[] READY = new byte[6];

    @TempDir
    Path directory;

    /** The second target has its portal in group 2, the first in group 1; both are reached with the same ISID. */
    private final class Shared implements AutoCloseable {
        final BlockDevice device = Devices.open("ram:1MiB");
        final TargetServer server;
        final RawInitiator one;
        final RawInitiator other;

        Shared(int otherGroup) throws Exception {
            UnitSpec unit = DiskSpec.of(device).withState(StateStore.inDirectory(directory));
            server = TargetFixture.builder()
                    .portal(portal(1))
                    .portal(portal(2))
                    .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, unit)
                            .withGroups(List.of(1)))
                    .target(TargetSpec.of(OTHER).withLun(0, unit).withGroups(List.of(otherGroup)))
                    .start();
            one = loggedIn(1, RawInitiator.TARGET);
            other = loggedIn(otherGroup, OTHER);
        }

        private RawInitiator loggedIn(int group, String target) throws Exception {
            var raw = new RawInitiator(server.portals().get(group - 1).getPort());
            assertThat(raw.loginAs("iqn.2026-11.org.lunar:raw", target).status()).isZero();
            raw.takeAttentions();
            return raw;
        }

        @Override
        public void close() throws Exception {
            one.close();
            other.close();
            server.close();
            device.close();
        }
    }

    private static PortalSpec portal(int group) {
        return PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withGroup(group);
    }

    private static Status reserveOut(RawInitiator sender, int action, ReserveOutParameters list)
            throws Exception {
        return sender.commandOut(new PersistentReserveOut(action, 0,
                ReservationType.WRITE_EXCLUSIVE.code(), 24).bytes(), list.bytes()).status();
    }

    private static List<Long> keys(RawInitiator sender) throws Exception {
        byte[] status = in(sender, "5e03 0000000000 1000 00", 4096);
        return ReservationFullStatus.decode(MemorySegment.ofArray(status)).registrations().stream()
                .map(ReservationFullStatus.Registration::key).toList();
    }

    @Test
    void shouldKeepTheRegistrationsOfBothTargetsApart() throws Exception {
        try (var shared = new Shared(1)) { // the tags are equal, too
            var persistent = new ReserveOutParameters(0, 7, false, false, true, List.of());
            assertThat(reserveOut(shared.one, PersistentReserveOut.REGISTER, persistent))
                    .isEqualTo(Status.GOOD);
            assertThat(reserveOut(shared.other, PersistentReserveOut.RESERVE,
                    ReserveOutParameters.of(7, 0))).as("not registered there")
                    .isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(reserveOut(shared.one, PersistentReserveOut.RESERVE,
                    ReserveOutParameters.of(7, 0))).isEqualTo(Status.GOOD);
            assertThat(shared.other.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(reserveOut(shared.other, PersistentReserveOut.REGISTER,
                    new ReserveOutParameters(0, 8, false, false, true, List.of())))
                    .isEqualTo(Status.GOOD);
            assertThat(keys(shared.one)).containsExactly(7L, 8L);
        }
        try (var shared = new Shared(1)) { // after a restart
            assertThat(keys(shared.other)).containsExactly(7L, 8L);
            assertThat(shared.one.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.GOOD);
            assertThat(shared.other.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(reserveOut(shared.other, PersistentReserveOut.PREEMPT,
                    ReserveOutParameters.of(8, 7))).isEqualTo(Status.GOOD);
            assertThat(shared.one.command(READY, 0).sense()).as("preempted").isEqualTo(0x06_2a_05);
            assertThat(keys(shared.one)).containsExactly(8L);
        }
    }

    /** Reservations that were saved without the name of the target are those of the first one. */
    @Test
    void shouldReadReservationsOfVersionOne() throws Exception {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeByte(1);
            out.writeLong(3);
            out.writeInt(1);
            out.writeLong(7);
            out.writeShort(1);
            out.writeUTF("iqn.2026-11.org.lunar:raw,i,0x"
                    + String.format("%012x", RawInitiator.isid(1).value()));
            out.writeByte(ReservationType.WRITE_EXCLUSIVE.code());
            out.writeInt(0);
        }
        StateStore.inDirectory(directory).save("reservations", bytes.toByteArray());
        try (var shared = new Shared(1)) {
            assertThat(shared.one.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.GOOD);
            assertThat(shared.other.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.RESERVATION_CONFLICT);
        }
    }

    @Test
    void shouldKeepTheStatesOfEqualTagsApart() throws Exception {
        try (var shared = new Shared(1)) {
            shared.server.changeAccess(RawInitiator.TARGET, 1, TargetPortGroups.State.STANDBY);
            assertThat(shared.one.command(READY, 0).sense()).isEqualTo(0x06_2a_06);
            assertThat(shared.one.command(READY, 0).sense()).isEqualTo(0x02_04_0b);
            assertThat(shared.other.command(READY, 0).status()).isEqualTo(Status.GOOD);
            assertThat(shared.other.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldReportEachTargetsPorts() throws Exception {
        try (var shared = new Shared(2)) {
            assertThat(text(in(shared.one, "1201 88 0200 00", 512)))
                    .contains(RawInitiator.TARGET + ",t,0x0001").doesNotContain(OTHER);
            assertThat(text(in(shared.other, "1201 88 0200 00", 512)))
                    .contains(OTHER + ",t,0x0002").doesNotContain(RawInitiator.TARGET);
            String groups = "a30a 00000000 00000100 0000";
            assertThat(in(shared.one, groups, 256))
                    .isEqualTo(cdb("0000000c 008f0001 00000001 00000001"));
            assertThat(in(shared.other, groups, 256))
                    .isEqualTo(cdb("0000000c 008f0002 00000001 00000002"));
            assertThat(shared.other.commandOut(cdb("a40a 00000000 00000008 0000"),
                    cdb("00000000 02000002")).sense()).as("set its own group to standby").isZero();
            assertThat(in(shared.other, groups, 256))
                    .isEqualTo(cdb("0000000c 028f0002 00010001 00000002"));
            assertThat(shared.one.command(READY, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    private static String text(byte[] page) {
        return new String(page, StandardCharsets.ISO_8859_1);
    }
}
