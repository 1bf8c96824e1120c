package lunar.cli;

import lunar.cli.command.Failure;
import lunar.cli.config.TomlList;
import lunar.cli.config.VolumeTable;
import lunar.cli.config.VolumeUris;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
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

/** Tests {@code lunar raid add|remove|fail|grow}, and that the config file is updated with the members. */
class RaidMembersCommandTest {
    private static final String SIZE = RaidFolder.SIZE;
    private static final long LOOK_MS = 20;
    private static final int MAX_LOOKS = 3000;

    private final long seed = Seed.next();

    @TempDir
    Path folder;

    private Path config;

    @BeforeEach
    void name() { config = files().config(); }

    private RaidFolder files() { return new RaidFolder(folder); }

    private String file(String name) { return files().file(name); }

    private CommandRun raid(String... words) { return files().raid(words); }

    private void create(String volume, int members, String... more) {
        var all = new ArrayList<>(List.of("--assume-clean"));
        all.addAll(List.of(more));
        files().create(volume, members, all.toArray(String[]::new));
    }

    private JsonNode status(String volume) { return files().status(volume); }

    private List<String> uris(String volume, String list) {
        var uris = new ArrayList<String>();
        status(volume).path(list).forEach(one -> uris.add(one.path("uri").asString("")));
        return uris;
    }

    private VolumeTable table() throws Failure {
        return new VolumeUris(config).tables().getFirst();
    }

    private CommandRun.Serving serve(String volume) throws Exception {
        return new CommandRun.Serving(1, "serve", volume, "--config", config.toString(),
                "--portal", "127.0.0.1:0");
    }

    private void awaitMembers(List<String> wanted) throws Exception {
        for (int i = 0; i < MAX_LOOKS && !table().members().equals(wanted); i++) {
            Thread.sleep(LOOK_MS);
        }
        assertThat(table().members()).isEqualTo(wanted);
    }

    private byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(seed).nextBytes(noise);
        return noise;
    }

    private void check(BlockDevice device, byte[] data) throws Exception {
        MemorySegment found = MemorySegment.ofArray(new byte[data.length]);
        device.read(0, found);
        assertThat(found.mismatch(MemorySegment.ofArray(data))).as("seed " + seed).isEqualTo(-1);
    }

    @Test
    void shouldNameTheActivatedSpareInTheConfigFile() throws Exception {
        create("raid5:vol", 3, "--spare", file("s") + SIZE);
        assertThat(status("raid5:vol").path("spares").path(0).path("uuid").isString()).isTrue();
        byte[] data = noise(1 << 20);
        try (var serving = serve("raid5:vol")) {
            try (BlockDevice lun = Devices.open(serving.uri(0))) {
                lun.write(0, MemorySegment.ofArray(data));
                lun.flush();
            }
            assertThat(raid("status", "raid5:vol").succeeds().out())
                    .contains("  spare              " + file("s"));
            raid("fail", "raid5:vol", "1").succeeds();
            awaitMembers(List.of(file("m0"), file("s"), file("m2")));
            assertThat(table().spares()).isEmpty();
            assertThat(raid("rebuild", "raid5:vol").succeeds().out()).contains("is clean");
            assertThat(serving.end()).isZero();
        }
        assertThat(status("raid5:vol").path("state").asString("")).isEqualTo("clean");
        try (var serving = serve("raid5:vol");
                BlockDevice lun = Devices.open(serving.uri(0))) {
            check(lun, data);
        }
    }

    @Test
    void shouldAssembleFromFileAfterCrash() throws Exception {
        create("raid6:vol", 4, "--spare", file("s") + SIZE);
        String before = Files.readString(config);
        var process = new ServingProcess(folder, "raid6:vol", "--config", config.toString(),
                "--portal", "127.0.0.1:0");
        raid("fail", "raid6:vol", "0").succeeds();
        String state = "";
        for (int i = 0; i < MAX_LOOKS && !state.equals("clean"); i++) {
            Thread.sleep(LOOK_MS);
            state = status("raid6:vol").path("state").asString("");
        }
        process.kill();
        Files.writeString(config, before);
        assertThat(uris("raid6:vol", "slots")).containsExactly(file("s"), file("m1"), file("m2"),
                file("m3"));
        assertThat(raid("rebuild", "raid6:vol").succeeds().out()).contains("is clean");
        assertThat(table().members()).containsExactly(file("s"), file("m1"), file("m2"),
                file("m3")); // the next run corrects it
        assertThat(table().spares()).isEmpty();
        assertThat(raid("scrub", "raid6:vol").succeeds().out()).contains("no differences");
    }

    @Test
    void shouldAddAndRemoveSparesAndReaddMembers() throws Exception {
        create("raid5:vol", 3);
        assertThat(raid("add", "raid5:vol", file("s") + SIZE).succeeds().out())
                .contains(file("s") + " is now a spare of raid5:vol");
        assertThat(table().spares()).containsExactly(file("s"));
        assertThat(uris("raid5:vol", "spares")).containsExactly(file("s"));
        raid("add", "raid5:vol", file("s")).fails(1, "is a spare already");
        raid("add", "raid5:vol", file("nothing")).fails(1, "nothing");
        raid("add", "raid5:vol", "1").fails(1, "at work");
        raid("remove", "raid5:vol", file("m1")).fails(1, "is the member of slot 1");
        raid("remove", "raid5:vol", file("x")).fails(1, "is no spare");
        raid("create", "raid0:other", file("x") + SIZE, file("y") + SIZE, "--spare",
                file("z") + SIZE).fails(1, "a spare is of no use to it");
        raid("remove", "raid5:vol", file("s")).succeeds();
        assertThat(table().spares()).isEmpty();
        assertThat(uris("raid5:vol", "spares")).isEmpty();
        raid("fail", "raid5:vol", "2").succeeds();
        JsonNode out = status("raid5:vol");
        assertThat(out.path("state").asString("")).isEqualTo("degraded");
        assertThat(out.path("slots").path(2).path("why").asString(""))
                .contains("taken out by hand");
        CommandRun rebuild = raid("rebuild", "raid5:vol"); // it stays out
        assertThat(rebuild.status()).isEqualTo(1);
        assertThat(rebuild.out()).contains("is degraded");
        assertThat(raid("add", "raid5:vol", file("m2")).succeeds().out())
                .contains("slot 2 was re-added, and raid5:vol is clean");
    }

    @Test
    void shouldGrowWhileItIsServed() throws Exception {
        create("linear:vol", 2);
        byte[] data = noise(1 << 20);
        try (var serving = serve("linear:vol");
                BlockDevice lun = Devices.open(serving.uri(0))) {
            long before = lun.blockCount();
            lun.write(0, MemorySegment.ofArray(data));
            assertThat(raid("grow", "linear:vol", file("m2") + SIZE).succeeds().out())
                    .contains("slot 2 of linear:vol is " + file("m2"), "it is clean");
            MemorySegment block = MemorySegment.ofArray(new byte[lun.blockSize()]);
            for (int i = 0; i < MAX_LOOKS && lun.blockCount() == before; i++) {
                lun.read(0, block); // with some answer hosts hear of it
                Thread.sleep(LOOK_MS);
            }
            assertThat(lun.blockCount()).isGreaterThan(before);
            lun.write(lun.blockCount() - data.length / lun.blockSize(),
                    MemorySegment.ofArray(data));
            check(lun, data);
            assertThat(table().members())
                    .containsExactly(file("m0"), file("m1"), file("m2"));
        }
        assertThat(status("linear:vol").path("slots").size()).isEqualTo(3);
    }

    @Test
    void shouldGrowAMirrorAndReportWhatCannotGrow() throws Exception {
        create("raid1:vol", 2);
        assertThat(raid("grow", "raid1:vol", file("m2") + SIZE).succeeds().out())
                .contains("slot 2 of raid1:vol is " + file("m2"), "it is clean");
        assertThat(raid("scrub", "raid1:vol").succeeds().out()).contains("no differences");
        assertThat(table().members()).containsExactly(file("m0"), file("m1"), file("m2"));
        raid("grow", "raid1:vol", file("m1")).fails(1, "a member or a spare already");
        Files.delete(config);
        create("raid5:other", 3, "--force");
        raid("fail", "raid5:other", "0");
        raid("grow", "raid5:other", file("n") + SIZE).fails(1, "wait until it is whole");
    }

    @ParameterizedTest
    @ValueSource(strings = {"raid5", "raid10"})
    void shouldMoveBlocksToAnAdditionalMember(String level) throws Exception {
        String volume = level + ":vol";
        create(volume, 3);
        long before = status(volume).path("sizeBytes").asLong();
        assertThat(raid("grow", volume, file("m3") + SIZE).succeeds().out())
                .contains("slot 3 of " + volume + " is " + file("m3"), "it is clean");
        assertThat(status(volume).path("sizeBytes").asLong()).isGreaterThan(before);
        assertThat(raid("scrub", volume).succeeds().out()).contains("no differences");
        assertThat(table().members())
                .containsExactly(file("m0"), file("m1"), file("m2"), file("m3"));
    }

    private String content(String uri) throws Exception {
        CommandRun.of("copy", uri, folder.resolve("content").toString(), "--config",
                config.toString()).succeeds();
        return new String(Files.readAllBytes(folder.resolve("content")),
                StandardCharsets.ISO_8859_1);
    }

    private void lose(String name) throws Exception {
        Files.move(folder.resolve(name), folder.resolve(name + ".lost"));
    }

    @Test
    void shouldCreateANewJournalAfterTheOldOneIsGivenUp() throws Exception {
        create("raid5:vol", 3, "--journal", file("log") + "?size=16MiB");
        assertThat(table().journal()).contains(file("log"));
        Path image = Files.write(folder.resolve("image"), noise(3 << 20));
        CommandRun.of("copy", image.toString(), "raid5:vol", "--config", config.toString())
                .succeeds();
        String before = content("raid5:vol");
        lose("log");
        CommandRun.of("info", "raid5:vol", "--config", config.toString()).fails(1,
                "has its journal on a device of its own", file("log").substring(5),
                "lost-journal=drop", "lost-journal=renew");
        CommandRun.of("info", "raid5:vol?lost-journal=maybe", "--config", config.toString())
                .fails(1, "is not one of no, drop, renew");
        CommandRun.of("info", "raid5:vol?lost-journal=renew", "--config", config.toString())
                .fails(1, "cannot have a new journal");
        Files.write(folder.resolve("small"), new byte[4096]);
        Files.write(folder.resolve("used"), Files.readAllBytes(folder.resolve("m1")));
        raid("assemble", file("m0"), file("m1"), file("m2"), "--journal", file("small"),
                "--lost-journal", "renew", "--json").fails(1, "the journal needs");
        raid("assemble", file("m0"), file("m1"), file("m2"), "--journal", file("used"),
                "--lost-journal", "renew", "--json").fails(1, "would be destroyed");
        Files.write(folder.resolve("fresh"), new byte[16 << 20]);
        raid("assemble", file("m0"), file("m1"), file("m2"), "--journal", file("fresh"),
                "--lost-journal", "renew").succeeds();
        assertThat(table().journal()).contains(file("fresh"));
        assertThat(content("raid5:vol")).isEqualTo(before);
        assertThat(status("raid5:vol").path("consistency").asString("")).isEqualTo("journal");
        assertThat(content("raid5:vol?lost-journal=renew")).as("it is there: nothing is done")
                .isEqualTo(before);
        lose("fresh");
        raid("assemble", file("m0"), file("m1"), file("m2"), "--lost-journal", "drop").succeeds();
        assertThat(table().journal()).isEmpty();
        assertThat(content("raid5:vol")).isEqualTo(before);
        assertThat(status("raid5:vol").path("consistency").asString("")).isEqualTo("bitmap");
        assertThat(raid("scrub", "raid5:vol").succeeds().out()).contains("no differences");
    }

    @Test
    void shouldRecomputeAllParityIfTheJournalIsLostInACrash() throws Exception {
        create("raid5:vol", 3, "--journal", file("log") + "?size=16MiB");
        var process = new ServingProcess(folder, "raid5:vol", "--config", config.toString(),
                "--portal", "127.0.0.1:0");
        byte[] data = noise(1 << 20);
        try (BlockDevice lun = Devices.open(process.uri() + "?no-path-retry=fail")) {
            lun.write(0, MemorySegment.ofArray(data));
            lun.flush();
            process.kill();
        }
        lose("log");
        JsonNode status = RaidFolder.json(raid("assemble", file("m0"), file("m1"), file("m2"),
                "--lost-journal", "drop", "--json"));
        assertThat(status.path("state").asString("")).isEqualTo("clean");
        try (BlockDevice volume = new VolumeUris(config).open("raid5:vol")) {
            check(volume, data);
        }
        assertThat(raid("scrub", "raid5:vol").succeeds().out()).contains("no differences");
    }

    @Test
    void shouldEditListsLikeAUser() throws Exception {
        String table = """
                [[volume]]
                name = "vol" # mine
                members = ["file:a", 'file:b']
                spares = [
                    # two
                    "file:s",  # first
                    'file:t'
                ]
                """;
        TomlList members = TomlList.find(table, "members").orElseThrow();
        assertThat(members.with(1, "file:\"")).isEqualTo(table.replace("'file:b'",
                "\"file:\\\"\""));
        assertThat(members.plus("file:c"))
                .isEqualTo(table.replace("'file:b'", "'file:b', \"file:c\""));
        assertThat(members.without("file:a").orElseThrow())
                .isEqualTo(table.replace("\"file:a\", ", ""));
        assertThat(members.without("file:b").orElseThrow())
                .isEqualTo(table.replace(", 'file:b'", ""));
        TomlList spares = TomlList.find(table, "spares").orElseThrow();
        assertThat(spares.without("file:s").orElseThrow())
                .isEqualTo(table.replace("    \"file:s\",  # first\n", ""));
        assertThat(spares.without("file:t").orElseThrow())
                .isEqualTo(table.replace("    'file:t'\n", ""));
        assertThat(spares.plus("file:u"))
                .isEqualTo(table.replace("'file:t'", "'file:t',\n    \"file:u\","));
        assertThat(TomlList.find("members = []", "members").orElseThrow().plus("file:a"))
                .isEqualTo("members = [\"file:a\"]");
        assertThat(TomlList.find(table, "luns")).isEmpty();
        for (String odd : Arrays.asList("members = [\"a\"", "members = [\"\"\"a\"\"\"]",
                "members = [1]")) {
            assertThat(TomlList.find(odd, "members")).as(odd).isEmpty();
        }
    }
}
