package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import lunar.cli.CommandRun.Serving;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.scsi.Lun;
import lunar.scsi.primary.TestUnitReady;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** Tests a target and the other commands with it, all in this process. */
class ServeTest {
    private static final String IQN = "iqn.2026-11.org.example:disk";

    @TempDir
    Path folder;

    private String secretFile(String name, String secret) throws IOException {
        Path file = Files.writeString(folder.resolve(name), secret + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file.toString();
    }

    private static Serving serve(int luns, String... more) throws IOException {
        var args = new java.util.ArrayList<>(List.of("serve", "--portal", "127.0.0.1:0"));
        args.addAll(List.of(more));
        return new Serving(luns, args.toArray(String[]::new));
    }

    @Test
    void shouldAnnounceEachLunInOneLineAndEndCleanly() throws Exception {
        try (var serving = serve(2, "ram:64MiB", "ram:8MiB?block-size=4k", "--iqn", IQN)) {
            assertThat(serving.lines()).containsExactly(
                    "serving " + IQN + " lun 0 ram:64MiB 64MiB on 127.0.0.1:" + serving.port(),
                    "serving " + IQN + " lun 1 ram:8MiB?block-size=4k 8MiB on 127.0.0.1:"
                            + serving.port());
            assertThat(serving.end()).isZero();
        }
    }

    @Test
    void shouldBeDiscovered() throws Exception {
        try (var serving = serve(1, "ram:1MiB", "--iqn", IQN)) {
            assertThat(CommandRun.of("discover", serving.portal()).succeeds().out())
                    .isEqualTo(IQN + " " + serving.portal() + " group 1\n");
            var json = new JsonMapper().readTree(
                    CommandRun.of("discover", serving.portal(), "--json").succeeds().out());
            assertThat(json.at("/targets/0/iqn").asString()).isEqualTo(IQN);
            assertThat(json.at("/targets/0/portals/0/portal").asString())
                    .isEqualTo(serving.portal());
        }
    }

    @Test
    void shouldDescribeALun() throws Exception {
        try (var serving = serve(2, "ram:64MiB", "ram:8MiB?block-size=4k")) {
            assertThat(CommandRun.of("info", serving.uri(0)).succeeds().out())
                    .contains("64 MiB (67108864 bytes)", "512 bytes", "LUNAR", "write-zeroes");
            var json = new JsonMapper().readTree(
                    CommandRun.of("info", serving.uri(1), "--json").succeeds().out());
            assertThat(json.get("sizeBytes").asLong()).isEqualTo(8 << 20);
            assertThat(json.get("blockSizeBytes").asInt()).isEqualTo(4096);
            assertThat(json.get("readOnly").asBoolean()).isFalse();
            CommandRun.of("info", serving.uri(7)).fails(1, "LUN");
        }
    }

    @Test
    void shouldAdmitTheRightSecretOnly() throws Exception {
        String right = secretFile("right", "a secret of some length");
        String wrong = secretFile("wrong", "another secret of length");
        try (var serving = serve(1, "ram:1MiB", "--chap", "me:@" + right)) {
            String uri = serving.uri(0).replace("//", "//me@") + "?secret-file=";
            CommandRun.of("info", uri + right).succeeds();
            CommandRun.of("info", uri + wrong).fails(1, "authentication failed", "CHAP");
            CommandRun.of("info", serving.uri(0)).fails(1, "CHAP");
            CommandRun.of("info", uri.replace("me@", "you@") + right).fails(1, "CHAP");
        }
    }

    @Test
    void shouldServeTheNamedInitiatorsOnly() throws Exception {
        String me = InitiatorOptions.DEFAULT_NAME;
        try (var serving = serve(1, "ram:1MiB", "--initiator", me + "2", "--initiator", me)) {
            CommandRun.of("info", serving.uri(0)).succeeds();
        }
        try (var serving = serve(1, "ram:1MiB", "--initiator", me + "2")) {
            CommandRun.of("info", serving.uri(0)).fails(1, "not allowed at this target");
            assertThat(CommandRun.of("discover", serving.portal()).succeeds().out()).isEmpty();
        }
        CommandRun.of("serve", "ram:1MiB", "--portal", "127.0.0.1:0", "--initiator", "me").fails(1,
                "me", "not the iSCSI name");
        CommandRun.of("serve", "--initiator", me).fails(2, "[[target.initiator]]");
    }

    @Test
    void shouldProveItselfToInitiatorsThatAsk() throws Exception {
        String secret = secretFile("own", "a secret of some length");
        String mutual = secretFile("mutual", "the target's own secret");
        try (var serving = serve(1, "ram:1MiB", "--chap", "me:@" + secret, "--mutual-chap",
                "lunar:@" + mutual)) {
            String uri = serving.uri(0).replace("//", "//me@") + "?secret-file=" + secret
                    + "&mutual-user=lunar&mutual-secret-file=";
            CommandRun.of("info", uri + mutual).succeeds();
            CommandRun.of("info", uri + secretFile("no", "a secret it has not")).fails(1, "CHAP");
        }
        CommandRun.of("serve", "ram:1MiB", "--portal", "127.0.0.1:0", "--chap", "me:@" + secret,
                "--mutual-chap", "lunar:@" + secret).fails(1, "same secret");
    }

    @Test
    void shouldRejectUnknownTarget() throws Exception {
        try (var serving = serve(1, "ram:1MiB", "--iqn", IQN)) {
            CommandRun.of("info", "iscsi://" + serving.portal() + "/" + IQN + ".other/0").fails(1,
                    IQN + ".other", "no such target");
        }
    }

    @Test
    void shouldRequireDigestsWhereToldTo() throws Exception {
        try (var serving = serve(1, "ram:1MiB", "--header-digest", "require", "--data-digest",
                "require")) {
            CommandRun.of("info", serving.uri(0) + "?header-digest=crc32c&data-digest=crc32c")
                    .succeeds();
            CommandRun.of("info", serving.uri(0)).succeeds();
            CommandRun.of("info", serving.uri(0) + "?header-digest=none").fails(1, "login");
        }
    }

    @Test
    void shouldReportThatThePortIsInUse() throws Exception {
        try (var serving = serve(1, "ram:1MiB")) {
            CommandRun.of("serve", "ram:1MiB", "--portal", serving.portal()).fails(1,
                    serving.portal(), "in use", "--portal");
        }
    }

    @Test
    void shouldNotServeOthersWithoutSecretUnlessAllowed() throws Exception {
        CommandRun.of("serve", "ram:1MiB", "--portal", "0.0.0.0:0").fails(1, "--chap",
                "--allow-anonymous");
        try (var serving = new Serving(1, "serve", "ram:1MiB", "--portal", "0.0.0.0:0",
                "--allow-anonymous")) {
            CommandRun.of("discover", "127.0.0.1:" + serving.port()).succeeds();
        }
    }

    @Test
    void shouldRejectShortSecretsWhereOtherMachinesCanListen() throws Exception {
        String tooShort = secretFile("short", "eleven byte");
        String enough = secretFile("enough", "twelve bytes");
        CommandRun.of("serve", "ram:1MiB", "--portal", "0.0.0.0:0", "--chap", "me:@" + tooShort)
                .fails(1, "short", "12 bytes", "9.2.1");
        CommandRun.of("serve", "ram:1MiB", "--portal", "0.0.0.0:0", "--chap", "me:@" + enough,
                "--mutual-chap", "lunar:@" + tooShort).fails(1, "mutual-chap", "12 bytes");
        Path config = Files.writeString(folder.resolve("lunar.toml"),
                "discovery-chap = 'host:@" + tooShort + "'\n");
        CommandRun.of("serve", "ram:1MiB", "--portal", "0.0.0.0:0", "--chap", "me:@" + enough,
                "--config", config.toString()).fails(1, "discovery", "12 bytes");
        try (var serving = new Serving(1, "serve", "ram:1MiB", "--portal", "0.0.0.0:0", "--chap",
                "me:@" + enough)) {
            assertThat(serving.port()).isNotEmpty();
        }
        try (var serving = serve(1, "ram:1MiB", "--chap", "me:@" + tooShort)) {
            CommandRun.of("info", serving.uri(0).replace("//", "//me@") + "?secret-file="
                    + tooShort).succeeds();
        }
    }

    @Test
    void shouldNotSendShortSecretsToOtherMachines() throws Exception {
        String tooShort = secretFile("short", "eleven byte");
        String there = "192.0.2.1:3260"; // of documentation (RFC 5737); it is refused before anything is sent
        CommandRun.of("info", "iscsi://me@" + there + "/" + IQN + "/0?secret-file=" + tooShort)
                .fails(1, "12 bytes", "9.2.1");
        CommandRun.of("discover", there, "--chap", "me:@" + tooShort).fails(1, "12 bytes", "9.2.1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldAnnounceResetsUnlessToldNotTo(boolean announce) throws Exception {
        Path config = Files.writeString(folder.resolve("lunar.toml"),
                "announce-resets = " + announce + "\n");
        String[][] ways = {{"--announce-resets", Boolean.toString(announce)},
                {"--config", config.toString()},
                {"--config", config.toString(), "--announce-resets", Boolean.toString(announce)}};
        for (String[] way : ways) {
            try (var serving = serve(1, Stream.concat(Stream.of("ram:1MiB"), Stream.of(way))
                    .toArray(String[]::new));
                    var initiator = Initiator.create("iqn.2026-11.org.example:host");
                    var session = initiator.login(serving.uri(0))) {
                assertThat(session.execute(Lun.ZERO, new TestUnitReady().bytes(),
                        MemorySegment.NULL, MemorySegment.NULL).isUnitAttention())
                        .isEqualTo(announce);
            }
        }
    }

    @Test
    void shouldRequireTheSecretInDiscovery() throws Exception {
        String secret = secretFile("own", "a secret of some length");
        try (var serving = new Serving(1, "serve", "ram:1MiB", "--portal", "0.0.0.0:0", "--chap",
                "me:@" + secret)) {
            String portal = "127.0.0.1:" + serving.port();
            CommandRun.of("discover", portal).fails(1, "CHAP");
            assertThat(CommandRun.of("discover", portal, "--chap", "me:@" + secret).succeeds()
                    .out()).contains("iqn.");
        }
    }

    @Test
    void shouldAcceptTheNamedChapAlgorithmsOnly() throws Exception {
        String own = secretFile("own", "a secret of some length");
        String theirs = secretFile("theirs", "the target's own secret");
        String[] line = {"serve", "ram:1MiB", "--portal", "127.0.0.1:0", "--chap", "me:@" + own,
                "--mutual-chap", "lunar:@" + theirs, "--chap-algorithms", "sha3-256,sha-256"};
        try (var serving = new Serving(1, line)) {
            String uri = serving.uri(0).replace("//", "//me@") + "?secret-file=" + own;
            CommandRun.of("info", uri).succeeds();
            CommandRun.of("info", uri + "&chap-algorithms=sha-256&mutual-user=lunar"
                    + "&mutual-secret-file=" + theirs).succeeds();
            CommandRun.of("copy", uri + "&chap-algorithms=md5,sha3-256", "ram:1MiB").succeeds();
            CommandRun.of("info", uri + "&chap-algorithms=md5,sha-1").fails(1,
                    "none of the CHAP algorithms offered: md5, sha-1");
        }
        line[9] = "sha2";
        CommandRun.of(line).fails(1, "--chap-algorithms", "'sha2' is not a CHAP algorithm");
    }

    @Test
    void shouldDiscoverByTheNamedChapAlgorithmsOnly() throws Exception {
        String own = secretFile("own", "a secret of some length");
        String theirs = secretFile("theirs", "the target's own secret");
        try (var serving = new Serving(1, "serve", "ram:1MiB", "--portal", "0.0.0.0:0", "--chap",
                "me:@" + own, "--chap-algorithms", "sha-256")) {
            String portal = "127.0.0.1:" + serving.port();
            String[] line = {"discover", portal, "--chap", "me:@" + own, "--chap-algorithms",
                    "sha3-256,sha-256"};
            assertThat(CommandRun.of(line).succeeds().out()).contains("iqn.");
            line[5] = "md5";
            CommandRun.of(line).fails(1, "none of the CHAP algorithms offered: md5");
            line[5] = "md4";
            CommandRun.of(line).fails(1, "--chap-algorithms", "'md4'");
            line[4] = "--mutual-chap"; // discovery has no secret of its own to prove itself by
            line[5] = "lunar:@" + theirs;
            CommandRun.of(line).fails(1, "CHAP");
            line[5] = "lunar:@" + own;
            CommandRun.of(line).fails(1, "the same secret at both ends");
        }
    }

    @Test
    void shouldReportErrorsInASecretFile() throws IOException {
        String[] line = {"serve", "ram:1MiB", "--portal", "127.0.0.1:0", "--chap", ""};
        line[5] = "me:@" + folder.resolve("nothing");
        CommandRun.of(line).fails(1, "nothing", "does not exist");
        line[5] = "me:@" + folder;
        CommandRun.of(line).fails(1, "is a directory");
        line[5] = "me:@" + secretFile("empty", "");
        CommandRun.of(line).fails(1, "is empty");
        line[5] = "me:secret";
        CommandRun.of(line).fails(1, "USER:@FILE");
    }

    @Test
    void shouldWarnOfASecretThatIsShortOrOpenToOthers() throws Exception {
        Path file = Path.of(secretFile("short", "short"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        CommandRun run = CommandRun.of("serve", "ram:1x", "--portal", "127.0.0.1:0", "--chap",
                "me:@" + file);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("less than 12 bytes", "chmod 600");
    }

    @Test
    void shouldReportInvalidTargetName() {
        CommandRun.of("serve", "ram:1MiB", "--portal", "127.0.0.1:0", "--iqn", "disk").fails(1,
                "disk", "iqn.");
    }

    @Test
    void shouldRegisterAtTheConfiguredServerAndServeIfItIsDown() throws Exception {
        try (var nameServer = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
                var serving = new CommandRun.Serving(1, "serve", "ram:1MiB", "--portal",
                        "127.0.0.1:0", "--isns", "127.0.0.1:" + nameServer.getLocalPort());
                Socket asked = nameServer.accept()) {
            // Version 1, DevAttrReg (RFC 4171 section 5.1).
            assertThat(HexFormat.of().formatHex(asked.getInputStream().readNBytes(4)))
                    .isEqualTo("00010001");
            CommandRun.of("info", serving.uri(0)).succeeds();
            nameServer.close();
            asked.close();
            assertThat(serving.end()).isZero();
        }
    }
}
