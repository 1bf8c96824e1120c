package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReservationKeys;
import lunar.scsi.reservation.ReservationStatus;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a {@code lunar serve} process that is killed at any moment. */
class KilledServerTest {
    private static final long KEY = 0x1122334455667788L;
    private static final byte[] READ_KEYS = hex("5e 00 00 00 00 00 00 00 ff 00");
    private static final byte[] READ_RESERVATION = hex("5e 01 00 00 00 00 00 00 ff 00");
    private static final byte[] READY = new byte[6];
    private static final byte[] CONTROL_PAGE = hex("1a 08 0a 00 ff 00");

    @TempDir
    Path folder;

    private static final byte[] OVERWRITE_AT_ONCE = hex("48 81 00 00 00 00 00 00 06 00");

    private static byte[] hex(String bytes) {
        return HexFormat.of().parseHex(bytes.replace(" ", ""));
    }

    /** A server that is killed at the end, and a session with it. */
    private final class Killed implements AutoCloseable {
        private final ServingProcess process;
        private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:killer");
        private final Session session;

        Killed() throws IOException { this("", "1MiB"); }

        Killed(String filters, String size) throws IOException {
            process = new ServingProcess(folder,
                    filters + "file:" + folder.resolve("disk.img") + "?size=" + size, "--portal",
                    "127.0.0.1:0", "--state", folder.resolve("state").toString());
            session = initiator.login(process.uri());
        }

        byte[] in(byte[] cdb) throws IOException {
            MemorySegment room = MemorySegment.ofArray(new byte[255]);
            ScsiResult result = session.execute(Lun.ZERO, cdb, room, MemorySegment.NULL);
            if (result.status() == Status.CHECK_CONDITION.code()) { // the unit attention of a new nexus
                result = session.execute(Lun.ZERO, cdb, room, MemorySegment.NULL);
            }
            assertThat(result.isGood()).as("%s", result).isTrue();
            return room.toArray(ValueLayout.JAVA_BYTE);
        }

        void out(byte[] cdb, byte[] data) throws IOException {
            ScsiResult result = session.execute(Lun.ZERO, cdb, MemorySegment.NULL,
                    MemorySegment.ofArray(data));
            assertThat(result.isGood()).as("%s", result).isTrue();
        }

        int sense(byte[] cdb) throws IOException {
            ScsiResult result = session.execute(Lun.ZERO, cdb, MemorySegment.NULL,
                    MemorySegment.NULL);
            return result.isGood()
                    ? 0
                    : result.senseData().at(2) << 16 | result.senseData().at(12) << 8
                            | result.senseData().at(13);
        }

        @Override
        public void close() throws Exception {
            process.kill();
            initiator.close();
        }
    }

    @Test
    void shouldKeepReservationsAndSavedModePages() throws Exception {
        byte[] page;
        try (var server = new Killed()) {
            page = server.in(CONTROL_PAGE);
            server.out(new PersistentReserveOut(PersistentReserveOut.REGISTER, 0, 0, 24).bytes(),
                    new ReserveOutParameters(0, KEY, false, false, true, List.of()).bytes());
            server.out(new PersistentReserveOut(PersistentReserveOut.RESERVE, 0,
                    ReservationType.EXCLUSIVE_ACCESS.code(), 24).bytes(),
                    ReserveOutParameters.of(KEY, 0).bytes());
            byte[] select = Arrays.copyOf(page, 16);
            Arrays.fill(select, 0, 4, (byte) 0);
            select[4] &= 0x7f; // PS is reserved here
            select[6] ^= 0x04; // D_SENSE
            server.out(hex("15 11 00 00 10 00"), select);
        }
        try (var server = new Killed()) {
            assertThat(ReservationKeys.decode(MemorySegment.ofArray(server.in(READ_KEYS))).keys())
                    .containsExactly(KEY);
            assertThat(ReservationStatus
                    .decode(MemorySegment.ofArray(server.in(READ_RESERVATION))).held())
                    .contains(new ReservationStatus.Held(KEY, ReservationType.EXCLUSIVE_ACCESS));
            ScsiResult refused = server.session.execute(Lun.ZERO, hex("ff 00 00 00 00 00"),
                    MemorySegment.NULL, MemorySegment.NULL);
            assertThat(refused.senseData().at(0)).as("descriptor format, as it was saved")
                    .isEqualTo(0x72);
        }
    }

    @Test
    void shouldContinueWithSanitizeThatWasInterrupted() throws Exception {
        try (var server = new Killed("delay=1s:", "32MiB")) { // it does not end by itself first
            assertThat(server.sense(READY)).as("the unit attention of a new nexus")
                    .isEqualTo(0x06_29_00);
            server.out(OVERWRITE_AT_ONCE, hex("1f 00 00 02 a5 0f")); // 31 passes, far from their end
        }
        Path disk = folder.resolve("disk.img");
        try (var file = FileChannel.open(disk, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(4096), 16 << 20); // which has been overwritten once or not yet
        }
        try (var server = new Killed("", "32MiB")) {
            while (server.sense(READY) != 0) {
                LockSupport.parkNanos(10_000_000);
            }
            server.process.awaitErr("restarting an interrupted erasure");
        }
        byte[] content = Files.readAllBytes(disk);
        byte[] expected = new byte[32 << 20];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = (byte) (i % 2 == 0 ? 0xa5 : 0x0f);
        }
        assertThat(Arrays.mismatch(content, expected)).isEqualTo(-1);
    }
}
