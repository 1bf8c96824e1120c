package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import lunar.cli.config.VolumeUris;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests {@code lunar raid} on the volume of a server, by its admin API. */
@Timeout(900)
class RaidServerCommandTest {
    private static final int MAX_LOOKS = 9000;
    private static final long LOOK_MS = 20;

    @TempDir
    Path folder;
    private RaidFolder files;

    @BeforeEach
    void prepare() { files = new RaidFolder(folder); }

    private Path socket() { return folder.resolve("admin.sock"); }

    private String[] serve(String volume) {
        return new String[]{"serve", volume, "--config", files.config().toString(), "--portal",
                "127.0.0.1:0", "--admin", socket().toString()};
    }

    /** {@code lunar raid} with the server's socket, and without its config file. */
    private CommandRun raid(String... words) {
        var args = new ArrayList<>(List.of("raid"));
        args.addAll(List.of(words));
        args.addAll(List.of("--socket", socket().toString()));
        return CommandRun.of(args.toArray(String[]::new));
    }

    private JsonNode status(String volume) {
        return JsonMapper.builder().build().readTree(raid("status", volume, "--json").out());
    }

    private void awaitMembers(List<String> wanted) throws Exception {
        var uris = new VolumeUris(files.config());
        for (int i = 0; i < MAX_LOOKS
                && !uris.tables().getFirst().members().equals(wanted); i++) {
            Thread.sleep(LOOK_MS);
        }
        assertThat(uris.tables().getFirst().members()).isEqualTo(wanted);
    }

    @Test
    void shouldOperateOnTheVolumeOfAServer() throws Exception {
        files.create("raid1:vol", 2, "--assume-clean");
        try (var _ = new CommandRun.Serving(1, serve("raid1:vol"))) {
            assertThat(raid("status", "raid1:vol").succeeds().out()).contains("raid1:vol",
                    "running in process " + ProcessHandle.current().pid());
            assertThat(raid("status").succeeds().out()).contains(files.file("m1"));
            assertThat(raid("fail", "raid1:vol", "1").succeeds().out())
                    .startsWith("slot 1 of raid1:vol is failed; replace it with");
            assertThat(raid("status", "raid1:vol").status()).isEqualTo(3);
            raid("fail", "raid1:vol", "0").fails(1, "cannot do without slot 0");
            assertThat(raid("add", "raid1:vol", files.file("m1"), "--wait").succeeds().out())
                    .isEqualTo("slot 1 was re-added, and raid1:vol is clean\n");
            assertThat(raid("replace", "raid1:vol", "1", files.file("new") + RaidFolder.SIZE,
                    "--wait").succeeds().out()).isEqualTo("slot 1 has " + files.file("new")
                            + ", and raid1:vol is clean\n");
            awaitMembers(List.of(files.file("m0"), files.file("new")));
            assertThat(raid("add", "raid1:vol", files.file("s") + RaidFolder.SIZE).succeeds()
                    .out()).isEqualTo(files.file("s") + " is now a spare of raid1:vol\n");
            assertThat(raid("remove", "raid1:vol", files.file("s")).succeeds().out())
                    .isEqualTo(files.file("s") + " is no longer a spare of raid1:vol\n");
            assertThat(raid("grow", "raid1:vol", files.file("m2") + RaidFolder.SIZE, "--wait")
                    .succeeds().out()).startsWith("slot 2 of raid1:vol is " + files.file("m2")
                            + ", and it is clean");
            assertThat(raid("rebuild", "raid1:vol").succeeds().out())
                    .isEqualTo("raid1:vol is clean\n");
            assertThat(raid("scrub", "raid1:vol", "--repair").succeeds().out())
                    .startsWith("scrub of raid1:vol: ").contains("no differences");
            assertThat(status("raid1:vol").path("slots")).hasSize(3);
        }
    }

    @Test
    void shouldReportWhatTheServerRefuses() throws Exception {
        raid("status", "raid0:vol").fails(4, "no server answers");
        raid("scrub", "raid0:vol").fails(4, "no server answers");
        files.create("raid0:vol", 2);
        try (var _ = new CommandRun.Serving(1, serve("raid0:vol"))) {
            raid("scrub", "raid0:vol").fails(1, "has no redundancy to compare");
            raid("status", "raid1:vol").fails(1, "no volume of this name is served",
                    "raid0:vol");
            raid("rebuild", "raid1:vol").fails(1, "no volume of this name is served");
            raid("grow", "raid0:vol", "file:m2?size=4MiB").fails(1, "relative path");
            raid("fail", "raid0:vol", "1", "--config", files.config().toString()).fails(2,
                    "--config excludes");
            raid("status", "--config", files.config().toString()).fails(2, "--config excludes");
            CommandRun.of("raid", "rebuild", "raid0:vol", "--address", "127.0.0.1:1").fails(2,
                    "--token-file");
        }
    }

    @Test
    void shouldLogChangesOverTcpWithoutSecrets() throws Exception {
        files.create("raid1:vol", 2, "--assume-clean");
        Path token = Files.writeString(folder.resolve("token"), "a-token-of-the-tests\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        int port = FreePorts.one();
        Files.writeString(files.config(), "[admin]\nlisten = \"127.0.0.1:" + port
                + "\"\ntoken-file = \"" + token + "\"\n" + Files.readString(files.config()));
        var server = new ServingProcess(folder, "raid1:vol", "--config",
                files.config().toString(), "--portal", "127.0.0.1:0", "--admin",
                socket().toString());
        try {
            String[] where = {"--address", "127.0.0.1:" + port, "--token-file", token.toString()};
            run(where, "fail", "raid1:vol", "1").succeeds();
            server.awaitErr("audit: admin: raid1:vol: fail slot 1: done");
            run(where, "remove", "raid1:vol", "iscsi://user%hidden@127.0.0.1/iqn.x/0").fails(1,
                    "iscsi://user@127.0.0.1/iqn.x/0 is no spare");
            server.awaitErr("remove iscsi://user@127.0.0.1/iqn.x/0: refused: ");
            Files.writeString(token, "another-token-of-the-tests\n");
            run(where, "add", "raid1:vol", "1").fails(1, "bearer token");
        } finally {
            server.end();
        }
        assertThat(server.err()).doesNotContain("hidden", "add 1", "a-token");
    }

    private static CommandRun run(String[] where, String... words) {
        var args = new ArrayList<>(List.of("raid"));
        args.addAll(List.of(words));
        args.addAll(List.of(where));
        return CommandRun.of(args.toArray(String[]::new));
    }
}
