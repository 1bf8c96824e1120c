package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.scsi.Reservations;
import lunar.initiator.scsi.ScsiUnit;
import lunar.scsi.Lun;
import lunar.scsi.reservation.ReservationType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An object store that a process of its own serves: used by commands over iSER, and restarted. */
class OsdProcessTest {
    private static final String IQN = "iqn.2026-11.org.lunar:objects";
    private static final long END_SECONDS = 180;
    private static final long KEY = 77;

    @TempDir
    Path folder;

    private Process start(String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect
                        .appendTo(folder.resolve("errors.txt").toFile()))
                .start();
    }

    /** A server of the store in the folder, with its state there. */
    private final class Server implements AutoCloseable {
        private final Process process;
        private final String[] portals;

        Server(String... more) throws IOException {
            var arguments = new ArrayList<>(List.of("serve",
                    "osd:" + folder.resolve("store") + "?create=true", "--iqn", IQN, "--portal",
                    "127.0.0.1:0", "--state", folder.resolve("state").toString()));
            arguments.addAll(List.of(more));
            process = start(arguments.toArray(String[]::new));
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            String line = out.readLine();
            assertThat(line).as(Files.readString(folder.resolve("errors.txt"))).isNotNull();
            portals = line.substring(line.lastIndexOf(' ') + 1).split(",", -1);
        }

        String portal(int index) { return portals[index]; }

        @Override
        public void close() throws Exception {
            process.destroyForcibly();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        }
    }

    private String run(String... arguments) throws Exception {
        Process process = start(arguments);
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(String.join(" ", arguments) + ": "
                + Files.readString(folder.resolve("errors.txt"))).isZero();
        return out.strip();
    }

    @Test
    void shouldServeCommandsOverIser() throws Exception {
        RdmaDevices.require();
        byte[] data = new byte[5_000_001];
        new Random(1).nextBytes(data);
        Path film = Files.write(folder.resolve("film"), data);
        Path copy = folder.resolve("copy");
        try (var server = new Server("--iser", "127.0.0.1:0", "--rdma-provider",
                RdmaDevices.NEEDED)) {
            assertThat(server.portal(1)).startsWith("iser://");
            String uri = server.portal(1) + "/" + IQN + "/0?rdma-provider=" + RdmaDevices.NEEDED;
            assertThat(run("osd", "format", uri, "--name", "shelf")).startsWith("formatted ");
            assertThat(run("osd", "mkpart", uri)).isEqualTo("0x10000");
            assertThat(run("osd", "put", uri, "0x10000", "0x10001", "--file", film.toString(),
                    "--verify")).endsWith("; verified");
            assertThat(run("osd", "attr", uri, "0x10000", "0x10001", "--set", "0x10000/1=red",
                    "--get", "0x10000/1")).contains("red");
            assertThat(run("osd", "get", uri, "0x10000", "0x10001", "--file", copy.toString()))
                    .contains("5000001 bytes");
            assertThat(copy).hasSameBinaryContentAs(film);
            assertThat(run("osd", "ls", uri, "0x10000")).startsWith("0x10001 ");
        }
    }

    @Test
    void shouldKeepPersistentReservationsOverARestart() throws Exception {
        try (var server = new Server();
                var initiator = Initiator.create(IQN + "-first");
                Session session = initiator.login("iscsi://" + server.portal(0) + "/" + IQN)) {
            ScsiUnit unit = ScsiUnit.of(session, Lun.ZERO);
            unit.reservations().register(KEY, Reservations.Option.PERSIST);
            unit.reservations().reserve(KEY, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
        }
        try (var server = new Server();
                var initiator = Initiator.create(IQN + "-second");
                Session session = initiator.login("iscsi://" + server.portal(0) + "/" + IQN)) {
            ScsiUnit unit = ScsiUnit.of(session, Lun.ZERO);
            assertThat(unit.reservations().keys().keys()).containsExactly(KEY);
            assertThat(unit.reservations().reservation().held()).isPresent();
            // another initiator may list, and change nothing
            Process refused = start("osd", "mkpart",
                    "iscsi://" + server.portal(0) + "/" + IQN + "/0");
            assertThat(refused.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(refused.exitValue()).isEqualTo(1);
            assertThat(Files.readString(folder.resolve("errors.txt")))
                    .containsIgnoringCase("reservation conflict");
        }
    }
}
