package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.scsi.Lun;
import lunar.scsi.PersistentReserveOut;
import lunar.scsi.ReservationKeys;
import lunar.scsi.ReservationStatus;
import lunar.scsi.ReservationType;
import lunar.scsi.ReserveOutParameters;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code lunar serve} as a process of its own, which is killed where it stands. */
class KilledServerTest {
    private static final long KEY = 0x1122334455667788L;
    private static final byte[] READ_KEYS = hex("5e 00 00 00 00 00 00 00 ff 00");
    private static final byte[] READ_RESERVATION = hex("5e 01 00 00 00 00 00 00 ff 00");
    private static final byte[] CONTROL_PAGE = hex("1a 08 0a 00 ff 00");

    @TempDir
    Path folder;

    private static byte[] hex(String bytes) {
        return HexFormat.of().parseHex(bytes.replace(" ", ""));
    }

    /** A server that is killed at the end, and a session with it. */
    private final class Killed implements AutoCloseable {
        private final Process process;
        private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:killer");
        private final Session session;

        Killed() throws IOException {
            process = new ProcessBuilder(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                    System.getProperty("java.class.path"), "lunar.cli.Main", "serve",
                    "file:" + folder.resolve("disk.img") + "?size=1MiB", "--portal",
                    "127.0.0.1:0", "--state", folder.resolve("state").toString()))
                    .redirectError(folder.resolve("err.txt").toFile()).start();
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            String line = out.readLine();
            assertThat(line).as(Files.readString(folder.resolve("err.txt"))).isNotNull();
            String[] words = line.split(" ");
            session = initiator
                    .login("iscsi://" + words[words.length - 1] + "/" + words[1] + "/0");
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

        @Override
        public void close() throws Exception {
            process.destroyForcibly(); // SIGKILL
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
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
}
