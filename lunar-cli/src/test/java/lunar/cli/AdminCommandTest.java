package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lunar.admin.AdminServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the commands that ask and change a running server, with a server and an initiator. */
@Timeout(600)
class AdminCommandTest extends AdminCommandFixture {
    private static final String IQN = "iqn.2026-11.org.example:admin";

    private static final int MOST_TRIES = 10;

    AdminCommandTest() { super(IQN); }

    @Test
    void shouldShowSessionsAndLunsInUseAndLogOut() throws Exception {
        try (var serving = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString());
                BlockDevice disk = Devices.open(serving.uri(0))) {
            disk.write(0, MemorySegment.ofArray(new byte[4096]));
            disk.read(0, MemorySegment.ofArray(new byte[512]));

            assertThat(run("status").succeeds().out()).contains(": ok\n", "1 with 1 LUNs",
                    "sessions: 1 with 1 connections", "127.0.0.1:");
            assertThat(json("status").path("config").asString())
                    .isEqualTo(folder.resolve("lunar.toml").toString());

            JsonNode session = json("sessions").path("sessions").path(0);
            assertThat(session.path("commands").path("writtenBytes").asLong()).isEqualTo(4096);
            assertThat(session.path("negotiated").path("maxBurstLength").asLong()).isPositive();
            String tsih = "" + session.path("tsih").asInt();
            String name = session.path("initiator").asString();
            assertThat(run("sessions").succeeds().out())
                    .contains("INITIATOR", tsih, name, IQN, "4 KiB");

            JsonNode unit = json("luns").path("luns").path(0);
            assertThat(unit.path("commands").path("writes").asLong()).isEqualTo(1);
            assertThat(unit.path("commands").path("readLatency").path("totalNanos").asLong())
                    .isPositive();
            assertThat(run("luns").succeeds().out()).contains("ram:1MiB", "1 MiB", "4 KiB");

            assertThat(run("logout", tsih).succeeds().out())
                    .isEqualTo("session " + tsih + " has ended\n");
            run("logout", "65534").fails(1, "no session has this TSIH");
            run("logout", "--initiator", "iqn.2026-11.org.example:no").fails(1, "has no session");
            run("logout").fails(2, "which session");
            disk.read(0, MemorySegment.ofArray(new byte[512])); // the initiator logs in again
        }
    }

    @Test
    void shouldShowRatesAndLatencies() throws Exception {
        try (var serving = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString());
                BlockDevice disk = Devices.open(serving.uri(0))) {
            var stop = new AtomicBoolean();
            var load = CompletableFuture.runAsync(() -> write(disk, stop));
            JsonNode top = json("top", "--interval", "2");
            for (int i = 0; i < 20 && !isWritten(top); i++) { // the load may stall for so long
                top = json("top", "--interval", "2");
            }
            assertThat(top.path("status").asString()).isEqualTo("ok");
            JsonNode unit = top.path("luns").path(0);
            assertThat(unit.path("name").asString()).isEqualTo(IQN + " 0");
            assertThat(unit.path("writesPerSecond").asDouble()).isPositive();
            assertThat(unit.path("writtenBytesPerSecond").asDouble()).isPositive();
            assertThat(unit.path("writeP99Ms").asDouble()).isPositive();
            assertThat(top.path("sessions").path(0).path("name").asString()).contains("iqn.");
            assertThat(run("top", "--once").succeeds().out()).contains("operations/s", "WRITES/S",
                    IQN + " 0").doesNotContain("\u001b");
            stop.set(true);
            load.get();
            run("top").fails(2, "--once");
            run("top", "--once", "--interval", "0").fails(2, "--interval");
        }
    }

    private static boolean isWritten(JsonNode top) {
        return top.path("luns").path(0).path("writesPerSecond").asDouble(0) > 0;
    }

    private static void write(BlockDevice disk, AtomicBoolean stop) {
        try {
            while (!stop.get()) {
                disk.write(0, MemorySegment.ofArray(new byte[512]));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldReloadTheConfigFile() throws Exception {
        try (var _ = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString())) {
            assertThat(run("reload").succeeds().out()).contains("nothing that is served");
            config("ram:1MiB", "ram:2MiB");
            assertThat(run("reload").succeeds().out()).contains("serving " + IQN + " lun 1");
            assertThat(json("luns").path("luns")).hasSize(2);
            Files.writeString(folder.resolve("lunar.toml"), "luns2 = []");
            run("reload").fails(1, "configuration not reloaded", ":1:1: ", "luns2",
                    "still running the previous configuration");
            assertThat(json("luns").path("luns")).hasSize(2);
        }
    }

    @Test
    void shouldShowAndReloadLimits() throws Exception {
        Path file = config("ram:1MiB");
        String text = Files.readString(file);
        String limited = text.replace("[\"ram:1MiB\"]",
                "[{ uri = \"ram:1MiB\", limit = \"700iops\" }]");
        Files.writeString(file, limited);
        try (var _ = new CommandRun.Serving(1, "serve", "--config", file.toString())) {
            assertThat(run("luns").succeeds().out()).contains("LIMIT", " 700iops ");
            Files.writeString(file, limited.replace("700iops", "800iops,20MiB"));
            assertThat(run("reload").succeeds().out()).contains("changed target " + IQN
                    + ": lun 0: limit from \"700iops\" to \"800iops,20MiB\"");
            assertThat(json("luns").path("luns").path(0).path("limit").asString())
                    .isEqualTo("800iops,20MiB");
            Files.writeString(file, text);
            assertThat(run("reload").succeeds().out()).contains("removed target " + IQN
                    + ": lun 0: limit");
            assertThat(run("luns").succeeds().out()).doesNotContain("iops");
            Files.writeString(file, limited.replace("700iops", "fast"));
            run("reload").fails(1, ":6:29: ", "'limit'", "'fast' is not a rate");
        }
    }

    @Test
    void shouldTellADegradedVolumeByTheExitStatus() throws Exception {
        var raid = new RaidFolder(Files.createDirectory(folder.resolve("raid")));
        raid.create("raid1:vol", 2);
        try (var _ = new CommandRun.Serving(1, "serve", "raid1:vol", "--config",
                raid.config().toString(), "--portal", "127.0.0.1:0", "--admin",
                socket().toString())) {
            assertThat(run("status").succeeds().out()).contains(": ok\n");
            assertThat(json("status").path("volumes").asInt()).isEqualTo(1);
            raid.raid("fail", "raid1:vol", "1").succeeds();
            CommandRun degraded = run("status");
            assertThat(degraded.status()).isEqualTo(3);
            assertThat(degraded.out()).contains(": degraded\n", "problem:",
                    "raid1:vol is degraded");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"status", "sessions", "luns", "reload", "drain"})
    void shouldTellAServerThatDoesNotAnswerByTheExitStatus(String command) {
        run(command).fails(4, "no server answers", socket().toString());
    }

    @Test
    void shouldFindTheOnlyServerOfTheUserOrAskWhichOne() throws Exception {
        Path runtime = Files.createDirectory(folder.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        var place = Map.of("LUNAR_RUNTIME_DIR", runtime.resolve("lunar").toString());
        Path err = folder.resolve("err.txt");
        var first = new ServingProcess(err, place, "ram:1MiB", "--portal", "127.0.0.1:0");
        try {
            Path socket = runtime.resolve("lunar").resolve("serve-" + first.pid() + ".admin");
            await(socket);
            assertThat(asked(place, 0, "status", "--json")).contains("\"pid\" : " + first.pid());
            var second = new ServingProcess(folder.resolve("err2.txt"), place, "ram:1MiB",
                    "--portal", "127.0.0.1:0");
            try {
                await(runtime.resolve("lunar").resolve("serve-" + second.pid() + ".admin"));
                assertThat(asked(place, 2, "status")).contains("2 servers are running",
                        "--socket", socket.toString());
                assertThat(asked(place, 0, "status", "--socket", socket.toString()))
                        .contains("process " + first.pid());
            } finally {
                second.kill();
            }
            assertThat(asked(place, 0, "luns")).as("the killed one is ignored")
                    .contains("ram:1MiB");
            var third = new ServingProcess(folder.resolve("err3.txt"), place, "ram:1MiB",
                    "--portal", "127.0.0.1:0");
            await(runtime.resolve("lunar").resolve("serve-" + third.pid() + ".admin"));
            assertThat(runtime.resolve("lunar").resolve("serve-" + second.pid() + ".admin"))
                    .as("socket of the killed one").doesNotExist();
            third.end();
        } finally {
            first.end();
        }
        assertThat(asked(place, 4, "status")).contains("no server of this user is running");
    }

    private static void await(Path socket) throws InterruptedException {
        for (int i = 0; i < 6000 && !AdminServer.isAlive(socket); i++) {
            Thread.sleep(10);
        }
        assertThat(AdminServer.isAlive(socket)).isTrue();
    }

    /** Runs a command as a process of its own, with variables, and returns all that it says. */
    private static String asked(Map<String, String> environment, int status, String... words)
            throws IOException, InterruptedException {
        for (int tries = 1;; tries++) {
            var builder = new ProcessBuilder(ServingProcess.lunar(words)).redirectErrorStream(true);
            builder.environment().putAll(environment);
            Process process = builder.start();
            String said = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            boolean isSlow = said.contains("does not answer within"); // on a loaded machine
            if (process.waitFor() == status || !isSlow || tries == MOST_TRIES) {
                assertThat(process.exitValue()).as(said).isEqualTo(status);
                return said;
            }
        }
    }

    @Test
    void shouldAnswerOverTcpWithTheToken() throws Exception {
        Path token = folder.resolve("token");
        Files.writeString(token, "a-token-of-the-tests\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-r--r--"));
        Path file = config("ram:1MiB");
        int port = FreePorts.one();
        Files.writeString(file, Files.readString(file).replace("[admin]\n",
                "[admin]\nlisten = \"127.0.0.1:" + port + "\"\ntoken-file = \"" + token + "\"\n"));
        CommandRun.of("serve", "--config", file.toString()).fails(1, "chmod 600");
        CommandRun check = CommandRun.of("config", "check", file.toString());
        assertThat(check.status()).isEqualTo(1);
        assertThat(check.out() + check.err()).contains("'token-file'", "chmod 600");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        try (var _ = new CommandRun.Serving(1, "serve", "--config", file.toString())) {
            String address = "127.0.0.1:" + port;
            assertThat(CommandRun.of("status", "--address", address, "--token-file",
                    token.toString()).succeeds().out()).contains(": ok\n");
            Files.writeString(token, "another-token-of-the-tests\n");
            CommandRun.of("status", "--address", address, "--token-file", token.toString())
                    .fails(1, "bearer token");
            CommandRun.of("status", "--address", address).fails(2, "--token-file");
        }
    }

    @Test
    void shouldAnswerOverTls() throws Exception {
        var _ = TestCertificates.in(folder);
        Path token = Files.writeString(folder.resolve("token"), "a-token-of-the-tests\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        Path file = config("ram:1MiB");
        String text = Files.readString(file);
        int port = FreePorts.one();
        String admin = "[admin]\nlisten = \"127.0.0.1:" + port + "\"\ntoken-file = \"" + token
                + "\"\n";
        String key = "key = \"" + folder.resolve("server.key") + "\"\n";
        String ca = "client-ca = \"" + folder.resolve("ca.pem") + "\"\n";
        String certificate = "certificate = \"" + folder.resolve("server.pem") + "\"\n";
        for (String[] wrong : new String[][]{{certificate, "'certificate' needs a 'key'"},
                {key, "'key' needs a 'certificate'"}, {ca, "'client-ca' needs a 'certificate'"},
                {certificate + key.replace("server.key", "server-sec1.key"), "openssl pkcs8"}}) {
            Files.writeString(file, text.replace("[admin]\n", admin + wrong[0]));
            CommandRun check = CommandRun.of("config", "check", file.toString());
            assertThat(check.status()).isEqualTo(1);
            assertThat(check.out() + check.err()).contains(wrong[1]);
            CommandRun.of("serve", "--config", file.toString()).fails(1, wrong[1]);
        }
        Files.writeString(file, text.replace("[admin]\n",
                admin + certificate.replace("server", "expired") + key));
        CommandRun check = CommandRun.of("config", "check", file.toString()).succeeds();
        assertThat(check.out() + check.err()).contains("'certificate'", "expired on 2021");
        Files.writeString(file, text.replace("[admin]\n", admin + certificate + key + ca));
        CommandRun.of("config", "check", file.toString()).succeeds();
        assertThat(CommandRun.of("config", "show", file.toString()).succeeds().out())
                .contains(certificate, key, ca);
        try (var _ = new CommandRun.Serving(1, "serve", "--config", file.toString())) {
            List<String> words = List.of("status", "--token-file", token.toString(), "--address",
                    "https://localhost:" + port);
            assertThat(run(words, "--ca", "ca.pem", "--certificate", "client.pem", "--key",
                    "client.key").succeeds().out()).contains(": ok\n");
            run(words, "--ca", "other-ca.pem").fails(1, "not from a CA that is trusted");
            run(words, "--ca", "ca.pem", "--certificate", "client.pem").fails(2, "each other");
            run(words, "--ca", "none.pem").fails(1, "the CA file", "does not exist");
            CommandRun.of("status", "--token-file", token.toString(), "--address",
                    "localhost:" + port, "--ca", "ca.pem").fails(2, "https://HOST:PORT");
        }
    }

    /** Runs a command with options of files in the folder. */
    private CommandRun run(List<String> words, String... options) {
        var all = new ArrayList<>(words);
        for (String option : options) {
            all.add(option.startsWith("--") ? option : folder.resolve(option).toString());
        }
        return CommandRun.of(all.toArray(String[]::new));
    }

    @Test
    void shouldHaveNoAdminApiIfThatIsWanted() throws Exception {
        Path file = config("ram:1MiB");
        Files.writeString(file,
                Files.readString(file).replace("[admin]\n", "[admin]\nenabled = false\n"));
        try (var _ = new CommandRun.Serving(1, "serve", "--config", file.toString())) {
            run("status").fails(4, "no server answers");
        }
    }

    @Test
    void shouldReportAServerThatHangsRatherThanNone() throws Exception {
        Path runtime = Files.createDirectory(folder.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path place = Files.createDirectory(runtime.resolve("lunar"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try (var hung = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            hung.bind(UnixDomainSocketAddress.of(place.resolve("serve-77.admin")));
            assertThat(asked(Map.of("LUNAR_RUNTIME_DIR", runtime.resolve("lunar").toString()), 4,
                    "status"))
                    .contains("process 77 has the socket", "does not answer within 5 s");
        }
    }

    @Test
    void shouldTellAServerThatEndsWhileItAnswersByTheExitStatus() throws Exception {
        try (var dying = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dying.bind(UnixDomainSocketAddress.of(socket()));
            var closing = CompletableFuture.runAsync(() -> {
                try (var channel = dying.accept()) {
                    int _ = channel.read(ByteBuffer.allocate(4096));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            run("status").fails(4, "closed the connection");
            closing.get();
        }
    }

    @Test
    void shouldLogOutTheOtherSessionsWhenOneFails() throws Exception {
        try (var serving = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString());
                var _ = Devices.open(serving.uri(0))) {
            String tsih = "" + json("sessions").path("sessions").path(0).path("tsih").asInt();
            CommandRun run = run("logout", "65534", tsih, "--json");
            assertThat(run.status()).isEqualTo(1);
            JsonNode sessions = JsonMapper.builder().build().readTree(run.out()).path("sessions");
            assertThat(sessions.path(0).path("error").asString()).contains("no session");
            assertThat(sessions.path(1).path("ended").asBoolean()).isTrue();
        }
    }

    @Test
    void shouldWarnInTheAnswerOfAReload() throws Exception {
        Path file = config("ram:1MiB");
        try (var _ = new CommandRun.Serving(1, "serve", "--config", file.toString())) {
            Files.writeString(file, Files.readString(file).replace("[admin]\n",
                    "[limits]\nconnections = 77\n[admin]\nallow-remote = true\n"));
            assertThat(run("reload").succeeds().out()).contains("nothing that is served",
                    "warning: the change of the 'connections' limit",
                    "warning: the change of [admin] takes effect at the next start");
        }
    }

    @Test
    void shouldRefuseAndReportTheSameErrorsOfTheTable() throws Exception {
        Path file = config("ram:1MiB");
        String text = Files.readString(file);
        Files.createFile(folder.resolve("disk.img"));
        Path token = Files.writeString(folder.resolve("token"), "a-token-of-the-tests\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        for (String[] wrong : new String[][]{
                {text.replace("admin.sock", "disk.img"), "is not a socket"},
                {text.replace("admin.sock", "x".repeat(120)), "more than 107 bytes"},
                {text.replace(socket().toString(), "admin.sock"), "absolute path"},
                {text.replace("[admin]\n", "[admin]\nlisten = \"0.0.0.0:0\"\ntoken-file = \""
                        + token + "\"\n"), "allow-remote"}}) {
            Files.writeString(file, wrong[0]);
            CommandRun check = CommandRun.of("config", "check", file.toString());
            assertThat(check.status()).isEqualTo(1);
            assertThat(check.out()).contains(wrong[1]);
            CommandRun.of("serve", "--config", file.toString()).fails(1, wrong[1]);
        }
        assertThat(folder.resolve("disk.img")).exists();
    }

    @Test
    void shouldCountAUnitAtTwoLunsOnce() throws Exception {
        String uri = "file:" + folder.resolve("disk.img") + "?size=1MiB";
        try (var serving = new CommandRun.Serving(2, "serve", "--config",
                config(uri, uri).toString());
                BlockDevice disk = Devices.open(serving.uri(0))) {
            disk.write(0, MemorySegment.ofArray(new byte[4096]));
            assertThat(json("status").path("commands").path("writes").asLong()).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseTwoChoicesOfAServer() {
        run("status", "--address", "127.0.0.1:1").fails(2, "exclude each other");
        run("status", "--token-file", "x").fails(2, "--address");
    }
}
