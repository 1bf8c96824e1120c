package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code lunar osd}, and object stores in {@code serve}, {@code info} and {@code discover}. */
class OsdCommandTest {
    private static final String ANY = "iscsi://127.0.0.1:1/iqn.2026-11.org.lunar:disk/0";

    @TempDir
    private Path folder;

    private CommandRun.Serving serve(String... more) throws Exception {
        var args = new java.util.ArrayList<>(java.util.List.of("serve",
                "osd:" + folder.resolve("store") + "?create=true", "--portal", "127.0.0.1:0"));
        args.addAll(java.util.List.of(more));
        return new CommandRun.Serving(more.length > 0 && !more[0].startsWith("--") ? 2 : 1,
                args.toArray(String[]::new));
    }

    private static String out(String... args) {
        return CommandRun.of(args).succeeds().out().strip();
    }

    private static JsonNode json(String... args) { return JsonMapper.shared().readTree(out(args)); }

    private Path file(String name, int length) throws Exception {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return Files.write(folder.resolve(name), bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"format", "mkpart", "rmpart", "ls", "put", "get", "rm", "attr",
            "newkey", "grant", "setkey"})
    void shouldShowHelpWithAnExample(String command) {
        assertThat(out("osd", command, "--help")).startsWith("Usage: lunar osd " + command)
                .contains("Example").contains("\n  lunar osd " + command);
    }

    @Test
    void shouldPutGetListAndRemove() throws Exception {
        Path film = file("film", 3_000_001);
        try (var server = serve()) {
            assertThat(server.lines().getFirst())
                    .matches("serving iqn\\S+ lun 0 osd:\\S+ \\S+iB on 127.0.0.1:\\d+");
            String uri = server.uri(0);
            String partition = out("osd", "mkpart", uri, "--name", "photos");
            assertThat(partition).isEqualTo("0x10000");

            JsonNode put = json("osd", "put", uri, partition, "--file", film.toString(), "--name",
                    "cat", "--verify", "--json");
            String object = put.get("object").asString();
            assertThat(put.get("bytes").asInt()).isEqualTo(3_000_001);
            assertThat(put.get("verified").asBoolean()).isTrue();

            assertThat(out("osd", "ls", uri)).startsWith("0x10000 ").contains(" 1 objects")
                    .endsWith("photos");
            assertThat(out("osd", "ls", uri, partition)).startsWith(object).contains("2.9 MiB")
                    .endsWith("cat");
            JsonNode listed = json("osd", "ls", uri, partition, "--json").get("objects");
            assertThat(listed).hasSize(1);
            assertThat(listed.get(0).get("bytes").asInt()).isEqualTo(3_000_001);

            Path copy = folder.resolve("copy");
            assertThat(out("osd", "get", uri, partition, object, "--file", copy.toString(),
                    "--verify")).contains("3000001 bytes").endsWith("; verified");
            assertThat(copy).hasSameBinaryContentAs(film);

            assertThat(out("osd", "rm", uri, partition, object))
                    .isEqualTo("removed " + object + " of 0x10000");
            assertThat(out("osd", "rmpart", uri, partition)).isEqualTo("removed 0x10000");
            assertThat(out("osd", "ls", uri)).isEmpty();
        }
    }

    @Test
    void shouldReadStandardInputAndWriteStandardOutput() throws Exception {
        InputStream before = System.in;
        try (var server = serve()) {
            String uri = server.uri(0);
            out("osd", "mkpart", uri, "0x20000");
            System.setIn(new ByteArrayInputStream("first and longer".getBytes()));
            out("osd", "put", uri, "0x20000", "65537");
            System.setIn(new ByteArrayInputStream("second".getBytes()));
            out("osd", "put", uri, "0x20000", "0x10001");

            assertThat(out("osd", "get", uri, "0x20000", "0x10001")).isEqualTo("second");
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void shouldSetShowAndDeleteAttributes() throws Exception {
        try (var server = serve()) {
            String uri = server.uri(0);
            out("osd", "mkpart", uri, "0x10000");
            out("osd", "attr", uri, "0x10000", "--set", "0x30010000/1=red", "--set",
                    "0x30010000/2=hex:00ff");
            assertThat(out("osd", "attr", uri, "0x10000", "--page", "0x30010000").lines())
                    .containsExactly("0x30010000/0x1         red",
                            "0x30010000/0x2         hex:00ff");
            assertThat(out("osd", "attr", uri, "0x10000", "--delete", "0x30010000/1", "--get",
                    "0x30010000/1")).isEqualTo("0x30010000/0x1         not set");
            JsonNode root = json("osd", "attr", uri, "--page", "0x90000001", "--json");
            assertThat(root.get("attributes").findValuesAsString("number")).contains("0x80",
                    "0x81");
        }
    }

    @Test
    void shouldRefuseToFormatAStoreInUse() throws Exception {
        try (var server = serve()) {
            String uri = server.uri(0);
            out("osd", "mkpart", uri);
            CommandRun.of("osd", "format", uri).fails(1, "has partitions", "--force");
            assertThat(out("osd", "format", uri, "--force", "--name", "shelf"))
                    .startsWith("formatted ");
            assertThat(out("osd", "ls", uri)).isEmpty();
            assertThat(out("info", uri)).contains("shelf");
        }
    }

    @Test
    void shouldSayWhatToDo() throws Exception {
        Path small = file("small", 10);
        try (var server = serve()) {
            String uri = server.uri(0);
            CommandRun.of("osd", "get", uri, "0x10000", "0x10001").fails(1, "no such object",
                    "'lunar osd ls' lists what exists");
            out("osd", "mkpart", uri, "0x10000");
            CommandRun.of("osd", "mkpart", uri, "0x10000").fails(1, "exists already",
                    "choose another number");
            out("osd", "put", uri, "0x10000", "0x10001", "--file", small.toString());
            CommandRun.of("osd", "rmpart", uri, "0x10000").fails(1, "not empty", "--recursive");
            assertThat(out("osd", "rmpart", uri, "0x10000", "--recursive"))
                    .isEqualTo("removed 0x10000");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"osd ls " + ANY + " 12|too small",
            "osd ls " + ANY + " film|write for example 0x10000",
            "osd ls " + ANY + " --collections|name it after the URI",
            "osd get " + ANY + " 0x10000 0x10001 --json|needs --file",
            "osd attr " + ANY + " --get 5|write its page and number",
            "osd attr " + ANY + " --set 0x1/2|has no value",
            "osd attr " + ANY + " --set 0x1/2=hex:f|hexadecimal digits", "osd|missing command"})
    void shouldRefuseWrongArguments(String line, String why) {
        CommandRun.of(line.split(" ")).fails(2, why);
    }

    @Test
    void shouldRefuseADisk() throws Exception {
        try (var server = serve("ram:1MiB")) {
            CommandRun.of("osd", "ls", server.uri(1)).fails(1, "is no object store",
                    "device type 0h");
        }
    }

    @Test
    void shouldRefuseObjectStoresWhereDisksAreWanted() throws Exception {
        String config = folder.resolve("lunar.toml").toString();
        try (var server = serve()) {
            String why = "is not a disk but an object store (OSD)";
            CommandRun.of("copy", server.uri(0), "ram:1MiB").fails(1, why);
            CommandRun.of("copy", "ram:1MiB", server.uri(0)).fails(1, why);
            CommandRun.of("bench", server.uri(0), "--rw", "write", "--force").fails(1, why);
            CommandRun.of("browse", server.uri(0)).fails(1, why);
            CommandRun.of("serve", server.uri(0), "--portal", "127.0.0.1:0").fails(1, why);
            CommandRun.of("raid", "create", "raid1:vol", server.uri(0), "ram:64MiB", "--config",
                    config).fails(1, why);
        }
        CommandRun.of("info", "osd:store").fails(1, "osd:store is an object store",
                "'lunar serve osd:store'");
        CommandRun.of("copy", "verify:osd:store", "ram:1MiB").fails(1,
                "osd:store is an object store");
        CommandRun.of("bench", "osd:store", "--rw", "read").fails(1,
                "osd:store is an object store");
        CommandRun.of("browse", "osd:store").fails(1, "osd:store is an object store");
        CommandRun.of("raid", "create", "raid1:vol", "osd:store", "ram:64MiB", "--config", config)
                .fails(1, "osd:store is an object store");
    }

    @Test
    void shouldTellOfObjectStoresBesideDisks() throws Exception {
        try (var server = serve("ram:1MiB")) {
            out("osd", "mkpart", server.uri(0));
            assertThat(out("info", server.uri(0))).contains("object store, OSD-2")
                    .containsPattern("partitions +1");
            JsonNode info = json("info", server.uri(0), "--json");
            assertThat(info.get("type").asString()).isEqualTo("object-store");
            assertThat(info.get("totalBytes").asLong()).isPositive();

            assertThat(out("discover", server.portal(), "--luns").lines().skip(1).toList())
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("  lun 0 object store OSD-2 ")
                                    .endsWith("1 partition"),
                            line -> assertThat(line).startsWith("  lun 1 disk 1 MiB"));
            JsonNode luns = json("discover", server.portal(), "--luns", "--json").get("targets")
                    .get(0).get("luns");
            assertThat(luns.get(0).get("partitionCount").asInt()).isEqualTo(1);
            assertThat(luns.get(1).get("sizeBytes").asInt()).isEqualTo(1 << 20);
        }
    }

    @Test
    void shouldKeepObjectsAndIdentityOverRestarts() throws Exception {
        String serial;
        try (var server = serve("--state", folder.resolve("state").toString())) {
            out("osd", "mkpart", server.uri(0), "0x10000");
            serial = json("info", server.uri(0), "--json").get("serial").asString();
            assertThat(server.end()).isZero();
        }
        try (var server = serve("--state", folder.resolve("state").toString())) {
            assertThat(out("osd", "ls", server.uri(0), "--numbers")).isEqualTo("0x10000");
            assertThat(json("info", server.uri(0), "--json").get("serial").asString())
                    .isEqualTo(serial);
        }
    }

    @Test
    void shouldServeStoresOfAConfigFile() throws Exception {
        Path config = Files.writeString(folder.resolve("lunar.toml"), """
                portals = ["127.0.0.1:0"]
                [[target]]
                iqn = "iqn.2026-11.org.example:objects"
                luns = [{ lun = 3, uri = "osd:%s?create=true&sync=always" }]
                """.formatted(folder.resolve("store")));
        try (var server = new CommandRun.Serving(1, "serve", "--config", config.toString())) {
            assertThat(server.lines().getFirst()).contains(":objects lun 3 osd:");
            assertThat(out("osd", "mkpart", server.uri(3))).isEqualTo("0x10000");
        }
    }

    @Test
    void shouldRefuseADirectoryWithoutAStore() {
        CommandRun.of("serve", "osd:" + folder.resolve("none"), "--portal", "127.0.0.1:0").fails(1,
                "there is no object store", "?create=true'");
        CommandRun.of("serve", "osd:" + folder + "?sync=never", "--portal", "127.0.0.1:0").fails(1,
                "'never' of option 'sync'", "neither always nor flush");
    }

    @Test
    void shouldRefuseAFileInPlaceOfADirectory() throws Exception {
        CommandRun.of("serve", "osd:" + file("film", 1) + "?create=true", "--portal", "127.0.0.1:0")
                .fails(1, folder.resolve("film") + " is no directory");
    }
}
