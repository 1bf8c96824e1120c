package lunar.cli;

import lunar.cli.config.VolumeTableFile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests {@code lunar raid} with volumes on files, from creation to destruction, served and not. */
class RaidCommandTest {
    private static final String SIZE = RaidFolder.SIZE;

    private final long seed = Seed.next();

    @TempDir
    Path folder;

    private Path config;

    @BeforeEach
    void name() { config = files().config(); }

    private RaidFolder files() { return new RaidFolder(folder); }

    private String file(String name) { return files().file(name); }

    private CommandRun raid(String... words) { return files().raid(words); }

    private CommandRun create(String volume, String... more) {
        var args = new ArrayList<>(List.of("create", volume));
        for (String name : List.of("a", "b", "c", "d")) {
            args.add(file(name) + SIZE);
        }
        args.addAll(List.of(more));
        return raid(args.toArray(String[]::new)).succeeds();
    }

    private CommandRun bench(String time) {
        return CommandRun.of("bench", "raid5:vol", "--rw", "randread", "--time", time, "--ramp",
                "0s", "--config", config.toString());
    }

    private static List<String> states(JsonNode status) {
        var states = new ArrayList<String>();
        status.path("slots").forEach(slot -> states.add(slot.path("state").asString("")));
        return states;
    }

    private byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(seed).nextBytes(noise);
        return noise;
    }

    private void write(String uri, byte[] data) throws Exception {
        try (BlockDevice device = Devices.open(uri)) {
            device.write(0, MemorySegment.ofArray(data));
            device.flush();
        }
    }

    private void check(String uri, byte[] data) throws Exception {
        MemorySegment found = MemorySegment.ofArray(new byte[data.length]);
        try (BlockDevice device = Devices.open(uri)) {
            device.read(0, found);
        }
        assertThat(found.mismatch(MemorySegment.ofArray(data))).as("seed " + seed).isEqualTo(-1);
    }

    @Test
    void shouldMakeAVolumeThatEveryCommandTakes() throws Exception {
        Files.writeString(config, "# mine\nportals = ['127.0.0.1:0'] # any");
        CommandRun made = create("raid5:vol", "--chunk", "16k");
        assertThat(made.out()).contains("created raid5:vol: RAID 5 of 4 members, 6 MiB, chunk "
                + "16 KiB", "added to " + config, "raid5:vol is clean");
        assertThat(Files.readString(config)).startsWith(
                "# mine\nportals = ['127.0.0.1:0'] # any\n\n[[volume]]\nname = \"vol\"\n"
                        + "level = \"raid5\"\nuuid = \"")
                .contains("    \"" + file("a") + "\",\n").doesNotContain("size=");
        CommandRun info = CommandRun
                .of("info", "raid5:vol", "--config", config.toString(), "--json").succeeds();
        assertThat(info.out()).contains("\"sizeBytes\" : 6291456", "\"product\" : \"iRAID\"");
        Path image = Files.write(folder.resolve("image"), noise(3 << 20));
        CommandRun.of("copy", image.toString(), "raid5:vol", "--verify", "--config",
                config.toString()).succeeds();
        CommandRun bench = bench("50ms");
        if (bench.err().contains("no request was completed")) { // in time, on a loaded machine
            bench = bench("10s");
        }
        bench.succeeds();
        JsonNode status = RaidFolder.json(raid("status", "raid5:vol", "--json"));
        assertThat(status.path("state").asString("")).isEqualTo("clean");
        assertThat(status.path("running").asBoolean(true)).isFalse();
        assertThat(states(status)).containsOnly("active").hasSize(4);
        assertThat(raid("scrub", "raid5:vol").succeeds().out()).contains("no differences");
        Files.write(folder.resolve("a"), new byte[4 << 20]); // wiped
        assertThat(new RaidFolder(folder).status("raid5:vol").path("state").asString(""))
                .isEqualTo("degraded");
        CommandRun.of("info", "raid5:vol", "--config", config.toString()).fails(1,
                "would start degraded", "raid5:vol?degraded=yes");
        CommandRun
                .of("copy", "raid5:vol?degraded=yes", folder.resolve("back").toString(), "--config",
                        config.toString())
                .succeeds();
        assertThat(Arrays.copyOf(Files.readAllBytes(folder.resolve("back")), 3 << 20))
                .isEqualTo(Files.readAllBytes(image));
    }

    @Test
    void shouldReplaceAMemberAndReportTheConfigFile() throws Exception {
        create("raid6:vol", "--assume-clean");
        Files.delete(folder.resolve("b"));
        JsonNode status = RaidFolder
                .json(raid("replace", "raid6:vol", "1", file("new") + SIZE, "--json"));
        assertThat(status.path("state").asString("")).isEqualTo("clean");
        assertThat(status.path("slots").path(1).path("uri").asString("")).isEqualTo(file("new"));
        assertThat(Files.readString(config)).contains("\"" + file("new") + "\",")
                .doesNotContain("\"" + file("b") + "\"");
        assertThat(raid("scrub", "raid6:vol").succeeds().out()).contains("no differences");
        assertThat(raid("status").succeeds().out()).contains("raid6:vol  RAID 6", "  clean",
                "slot 1  active     " + file("new"), "not running");
    }

    @Test
    void shouldOperateOnVolumeOfRunningServer() throws Exception {
        create("raid5:vol", "--assume-clean", "--spare", file("s") + SIZE);
        byte[] data = noise(1 << 20);
        try (var serving = new CommandRun.Serving(1, "serve", "raid5:vol", "--config",
                config.toString(), "--portal", "127.0.0.1:0")) {
            assertThat(serving.lines().getFirst()).contains(" lun 0 raid5:vol ");
            write(serving.uri(0), data);
            JsonNode status = RaidFolder.json(raid("status", "raid5:vol", "--json"));
            assertThat(status.path("running").asBoolean(false)).isTrue();
            assertThat(status.path("pid").asLong(0)).isEqualTo(ProcessHandle.current().pid());
            assertThat(status.path("traffic").path("writtenBytes").asLong(0))
                    .isEqualTo(data.length);
            CommandRun.of("info", "raid5:vol", "--config", config.toString()).fails(1,
                    "is already running", "lunar raid stop raid5:vol");
            raid("destroy", "raid5:vol").fails(1, "runs in process", "--force");
            RaidFolder.json(raid("replace", "raid5:vol", file("c"), file("new") + SIZE, "--wait",
                    "--json"));
            assertThat(RaidFolder.json(raid("scrub", "raid5:vol", "--json")).path("lastScrub")
                    .path("clean").asBoolean(false)).isTrue();
            raid("fail", "raid5:vol", "7").fails(1, "no slot 7");
            raid("fail", "raid5:vol", "0").succeeds();
            CommandRun rebuilt = raid("rebuild", "raid5:vol"); // the spare may have stepped in by now, or not
            assertThat(rebuilt.out()).contains("raid5:vol is ");
            check(serving.uri(0), data);
            assertThat(raid("stop", "raid5:vol").succeeds().out()).contains("stopped raid5:vol");
            assertThat(raid("stop", "raid5:vol").succeeds().out()).contains("is not running");
            assertThat(serving.end()).isZero();
        }
        try (var serving = new CommandRun.Serving(1, "serve", "raid5:vol", "--config",
                config.toString(), "--portal", "127.0.0.1:0")) {
            check(serving.uri(0), data);
            assertThat(serving.end()).isZero();
        }
    }

    @Test
    void shouldAssembleInAnyOrderAndDestroy() throws Exception {
        create("raid10:vol", "--no-config", "--no-wait");
        assertThat(config).doesNotExist();
        CommandRun look = raid("assemble", "--look", file("d"), file("a"), file("c"), file("b"));
        assertThat(look.succeeds().out()).contains(
                file("d") + ": slot 3 of raid10:vol, 4 members",
                "raid10:vol can be assembled");
        assertThat(config).doesNotExist();
        CommandRun run = raid("assemble", file("d"), file("a"), file("c"), file("b"));
        assertThat(run.succeeds().out()).contains("raid10:vol is clean", "added raid10:vol to");
        assertThat(Files.readString(config).indexOf(file("a")))
                .isLessThan(Files.readString(config).indexOf(file("d")));
        CommandRun pairMissing = raid("assemble", file("b"), file("a"));
        assertThat(pairMissing.status()).isEqualTo(1);
        assertThat(pairMissing.err()).contains("needs one of each pair").hasLineCount(1);
        assertThat(raid("destroy", "raid10:vol").succeeds().out()).contains("4 devices released");
        assertThat(Files.readString(config)).isBlank();
        raid("status", "raid10:vol").fails(1, "is not in the config file");
    }

    @Test
    void shouldLeaveNoNewFilesWhereCreateIsRefused() throws Exception {
        Path used = folder.resolve("used");
        byte[] ext4 = new byte[4 << 20];
        ext4[1024 + 56] = 0x53;
        ext4[1024 + 57] = (byte) 0xef;
        Files.write(used, ext4);
        raid("create", "raid1:vol", "file:" + folder.resolve("fresh") + SIZE, "file:" + used)
                .fails(1, "file system");
        assertThat(folder.resolve("fresh")).doesNotExist();
        assertThat(used).exists();
    }

    @Test
    void shouldLeaveOtherTablesAndCommentsAsTheyAre() throws Exception {
        Files.writeString(config, """
                # the first comment

                [[volume]] # one
                name = "one"       # keep
                members = ["file:x",  # x
                   'file:y'] # y
                # of the target
                [[target]]
                iqn = "iqn.2026-11.org.example:disk"
                luns = ["raid1:one"]
                """);
        String before = Files.readString(config);
        var file = new VolumeTableFile(config);
        file.replace("one", "file:y", "file:z\\\"");
        assertThat(Files.readString(config))
                .isEqualTo(before.replace("'file:y'", "\"file:z\\\\\\\"\""));
        file.replace("one", "file:z\\\"", "file:y");
        create("raid1:two", "--no-wait");
        file.remove("one");
        assertThat(Files.readString(config)).startsWith("""
                # the first comment

                # of the target
                [[target]]
                iqn = "iqn.2026-11.org.example:disk"
                luns = ["raid1:one"]

                [[volume]]
                name = "two"
                """);
        file.remove("two");
        assertThat(Files.readString(config)).endsWith("luns = [\"raid1:one\"]\n");
    }

    @Test
    void shouldRejectInOneLine() throws Exception {
        create("raid5:vol", "--assume-clean");
        raid("create", "raid5:vol", file("x") + SIZE, file("y") + SIZE, file("z") + SIZE).fails(1,
                "has a volume 'vol' already");
        raid("create", "raid1:other", file("a"), file("x") + SIZE).fails(1,
                "would be destroyed");
        raid("create", "raid5:other", file("x") + SIZE, file("y") + SIZE).fails(1,
                "RAID 5 takes at least 3 members");
        raid("create", "raid1:other", file("x") + SIZE, file("x") + SIZE).fails(1, "listed twice");
        raid("create", "ram:1", file("x") + SIZE).fails(2, "is not a volume name");
        raid("replace", "raid5:vol", "1", file("nothing")).fails(1, "nothing");
        raid("fail", "raid6:vol", "1").fails(1, "raid5:vol");
        raid("status", "raid5:nothing").fails(1, "configured: raid5:vol");
        raid("status", "ram:1MiB").fails(1, "is not a volume");
        raid("status", "raid5:vol", "--watch").fails(2, "terminal");
        raid("scrub", "raid0:x?member=ram:1").fails(1, "no redundancy to compare");
        Files.delete(folder.resolve("a"));
        Files.delete(folder.resolve("b"));
        CommandRun.of("info", "raid5:vol", "--config", config.toString()).fails(1, "needs 3");
        CommandRun failed = raid("status", "raid5:vol");
        assertThat(failed.out()).contains("failed");
        assertThat(failed.status()).isEqualTo(3);
        raid("destroy", "raid5:vol").fails(1, "is incomplete", "--force");
        raid("destroy", "raid5:vol", "--force").succeeds();
    }

    @Test
    void shouldNotDestroyWhatIsInUse() throws Exception {
        create("raid5:vol", "--assume-clean");
        try (var _ = Devices.open(file("b"))) {
            raid("destroy", "raid5:vol", "--force").fails(1, "raid5:vol is not destroyed",
                    "b is already in use", "if a process runs the volume, stop it there first");
        }
        raid("destroy", "raid5:vol").succeeds();
    }

    @ParameterizedTest
    @ValueSource(strings = {"name = 'x'", "members = ['a']", "name = 'x'\nmembers = 'a'",
            "name = 'x'\nmembers = ['a']\nwrong = 1",
            "name = 'x'\nmembers = ['a']\nrebuild-rate = '1'",
            "name = 'x'\nmembers = ['a']\nstall-timeout = '1'",
            "name = 'x'\nmembers = ['a']\nuuid = '1'"})
    void shouldReportWhatIsWrongInTheFile(String table) throws Exception {
        Files.writeString(config, "luns = ['ram:1MiB']\n[[volume]]\n" + table);
        raid("status").fails(1, config + ":");
        CommandRun.of("serve", "--config", config.toString()).fails(1, config + ":");
    }

    @Test
    void shouldShowHelpWithAnExample() {
        for (String command : List.of("create", "assemble", "status", "stop", "fail", "replace",
                "add", "remove", "rebuild", "scrub", "grow", "destroy")) {
            CommandRun help = CommandRun.of("raid", command, "--help").succeeds();
            assertThat(help.out()).contains("lunar raid " + command, "Example", "--json");
        }
        CommandRun.of("raid").fails(2, "lunar raid --help");
    }
}
