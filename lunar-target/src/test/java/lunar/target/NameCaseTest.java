package lunar.target;

import static lunar.target.PrimaryCommandsTest.in;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import lunar.scsi.Status;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.RegisterAndMoveParameters;
import lunar.scsi.reservation.ReservationFullStatus;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import lunar.scsi.reservation.TransportId;
import lunar.scsi.target.StateStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that names of initiators and targets are compared in lower case. */
class NameCaseTest {
    private static final String CAPITALS = "iqn.2026-11.org.Lunar:HOST";
    private static final String LOWER = "iqn.2026-11.org.lunar:host";

    @TempDir
    Path directory;

    private static RawInitiator capitals(TargetServer server) throws Exception {
        var raw = new RawInitiator(server);
        assertThat(raw.loginAs(CAPITALS, "iqn.2026-11.org.lunar:Test").status()).isZero();
        raw.takeAttentions();
        return raw;
    }

    private static TransportId id() {
        return new TransportId(CAPITALS, OptionalLong.of(RawInitiator.isid(1).value()));
    }

    private static Status reserveOut(RawInitiator sender, int action, byte[] list)
            throws Exception {
        return sender.commandOut(new PersistentReserveOut(action, 0,
                ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY.code(), list.length).bytes(), list)
                .status();
    }

    private static Status write(RawInitiator sender) throws Exception {
        return sender.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1)).status();
    }

    @Test
    void shouldReinstateTheSessionOfTheSameName() throws Exception {
        try (var target = new TargetFixture();
                var old = capitals(target.server);
                var raw = new RawInitiator(target.server)) {
            assertThat(raw.loginAs(LOWER, RawInitiator.TARGET).status()).isZero();
            assertThat(old.isClosedByTarget()).isTrue();
            assertThat(raw.sendTargets("iqn.2026-11.org.lunar:TEST")).contains(RawInitiator.TARGET);
        }
    }

    @Test
    void shouldRegisterTheInitiatorThatIsNamed() throws Exception {
        try (var target = new TargetFixture();
                var named = capitals(target.server);
                var holder = target.ready(7)) {
            assertThat(reserveOut(holder, PersistentReserveOut.REGISTER,
                    new ReserveOutParameters(0, 5, true, false, false, List.of(id())).bytes()))
                    .isEqualTo(Status.GOOD);
            assertThat(reserveOut(holder, PersistentReserveOut.RESERVE,
                    ReserveOutParameters.of(5, 0).bytes())).isEqualTo(Status.GOOD);
            assertThat(write(named)).as("a registrant").isEqualTo(Status.GOOD);
            assertThat(reserveOut(named, PersistentReserveOut.REGISTER,
                    ReserveOutParameters.of(5, 6).bytes())).isEqualTo(Status.GOOD);
            var told = ReservationFullStatus.decode(
                    MemorySegment.ofArray(in(holder, "5e03 0000000000 1000 00", 4096)));
            assertThat(told.registrations()).hasSize(2)
                    .anyMatch(one -> one.key() == 6 && one.initiator().name().equals(LOWER));
        }
    }

    @Test
    void shouldMoveTheReservationToTheInitiatorThatIsNamed() throws Exception {
        try (var target = new TargetFixture();
                var named = capitals(target.server);
                var holder = target.ready(7)) {
            reserveOut(holder, PersistentReserveOut.REGISTER,
                    ReserveOutParameters.of(0, 5).bytes());
            reserveOut(holder, PersistentReserveOut.RESERVE, ReserveOutParameters.of(5, 0).bytes());
            assertThat(reserveOut(holder, PersistentReserveOut.REGISTER_AND_MOVE,
                    new RegisterAndMoveParameters(5, 6, true, false, 1, id()).bytes()))
                    .isEqualTo(Status.GOOD);
            assertThat(write(named)).isEqualTo(Status.GOOD);
            assertThat(write(holder)).isEqualTo(Status.RESERVATION_CONFLICT);
        }
    }

    /** Registrations saved before names were normalized; a name in both forms is one registration. */
    @Test
    void shouldFindSavedRegistrations() throws Exception {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeByte(1);
            out.writeLong(3);
            out.writeInt(3);
            for (String name : List.of(LOWER, CAPITALS, "iqn.2026-11.org.lunar:raw")) {
                out.writeLong(7);
                out.writeShort(1);
                out.writeUTF(name + ",i,0x"
                        + String.format("%012x", RawInitiator.isid(1).value()));
            }
            out.writeByte(ReservationType.WRITE_EXCLUSIVE.code());
            out.writeInt(2);
        }
        StateStore store = StateStore.inDirectory(directory);
        store.save("reservations", bytes.toByteArray());
        try (var target = new TargetFixture(store);
                var named = capitals(target.server);
                var holder = target.ready(1)) {
            assertThat(reserveOut(named, PersistentReserveOut.REGISTER,
                    ReserveOutParameters.of(7, 8).bytes())).isEqualTo(Status.GOOD);
            assertThat(write(named)).isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(write(holder)).isEqualTo(Status.GOOD);
        }
    }
}
