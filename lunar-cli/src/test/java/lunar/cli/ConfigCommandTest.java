package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import lunar.testkit.TestCertificates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests {@code lunar config check|show|diff|schema}. */
class ConfigCommandTest {
    private static final String PRIVATE = "rw-------";

    @TempDir
    Path folder;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text.replace("FOLDER", folder.toString()));
    }

    private void secret(String name, String text, String permissions) throws IOException {
        Path file = Files.writeString(folder.resolve(name), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    /** What check says of a file, without the name of the file. */
    private List<String> check(String text, int status) throws IOException {
        Path file = file("lunar.toml", text);
        var run = CommandRun.of("config", "check", file.toString());
        assertThat(run.err()).isEmpty();
        assertThat(run.status()).as(run.out()).isEqualTo(status);
        return run.out().lines().map(line -> line.replace(file + ":", "")
                .replace(folder.toString(), "FOLDER").replaceFirst("; there are disk:.*", ""))
                .toList();
    }

    @Test
    void shouldListAllErrorsWithTheirPlaces() throws IOException {
        assertThat(check("""
                portals = ["127.0.0.1", "a:b:c"]
                allow-anonymos = true

                [limits]
                sessions = 0

                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns2 = ["ram:1MiB"]
                luns = [
                    "ram:1MiB",
                    { lun = 0, uri = "ram:1MiB" },
                    "file:FOLDER/missing.img",
                    "tape:x",
                    "raid5:vol",
                    { uri = "ram:1MiB?colour=red", remvable = true },
                ]
                  [[target.initiator]]
                  name = "iqn.2026-11.org.example:me"
                  luns = [7]

                [[target]]
                luns = []
                """, 1)).containsExactly(
                "1:25: 'portals': 'a:b:c' is not HOST:PORT; write for example 127.0.0.1:3260 or"
                        + " [::1]:3260",
                "2:1: unknown key 'allow-anonymos'; did you mean 'allow-anonymous'?",
                "5:1: limits: 'sessions' must be a number from 1 to 65535",
                "9:1: target iqn.2026-11.org.example:a: unknown key 'luns2' of a target; did you"
                        + " mean 'luns'?",
                "12:16: target iqn.2026-11.org.example:a: LUN 0 is configured twice in 'luns'",
                "13:5: target iqn.2026-11.org.example:a: 'luns': FOLDER/missing.img does not"
                        + " exist; add ?size=1GiB to create it",
                "14:5: target iqn.2026-11.org.example:a: 'luns': no device of scheme 'tape:'",
                "15:5: target iqn.2026-11.org.example:a: 'luns': raid5:vol has no [[volume]] in"
                        + " this file",
                "16:7: target iqn.2026-11.org.example:a: 'luns': unknown option 'colour' in ram:"
                        + " URI; there are block-size, max",
                "16:36: target iqn.2026-11.org.example:a: unknown key 'remvable' of a LUN; did"
                        + " you mean 'removable'?",
                "20:3: target iqn.2026-11.org.example:a: initiator iqn.2026-11.org.example:me: 'luns'"
                        + " names LUN 7, which the target does not have",
                "22:1: a target has no 'iqn'; give it a name",
                "22:1: it has no 'luns'; name its devices");
    }

    @Test
    void shouldReportAMisspeltKeyOnce() throws IOException {
        assertThat(check("""
                [[portal-group]]
                tags = 2
                portals = ["127.0.0.1"]
                [[portal-group]]
                tag = 3
                portal = [{ lisen = "127.0.0.1" }]
                [[volume]]
                nam = "v"
                member = ["file:a.img"]
                [[target]]
                iqm = "iqn.2026-11.org.example:a"
                lun = ["ram:1MiB"]
                [[target]]
                iqn = "iqn.2026-11.org.example:b"
                luns = [{ url = "ram:1MiB" }]
                [[target.initiator]]
                names = "*"
                [[target]]
                iqn = "iqn.2026-11.org.example:c"
                moved = { too = "192.0.2.1" }
                """, 1)).satisfiesExactly(
                one -> assertThat(one).startsWith("2:1: ").endsWith("mean 'tag'?"),
                one -> assertThat(one).startsWith("6:1: ").endsWith("mean 'portals'?"),
                one -> assertThat(one).startsWith("8:1: ").endsWith("mean 'name'?"),
                one -> assertThat(one).startsWith("9:1: ").endsWith("mean 'members'?"),
                one -> assertThat(one).startsWith("11:1: ").endsWith("mean 'iqn'?"),
                one -> assertThat(one).startsWith("12:1: ").endsWith("mean 'luns'?"),
                one -> assertThat(one).startsWith("15:11: ").endsWith("mean 'uri'?"),
                one -> assertThat(one).startsWith("17:1: ").endsWith("mean 'name'?"),
                one -> assertThat(one).startsWith("20:11: ").endsWith("mean 'to'?"));
    }

    /** As a server that starts does. */
    @Test
    void shouldRequireOneUriAndTheSameSettingsAtAllLunsOfADevice() throws IOException {
        String differs = " is one unit at several LUNs, and must be configured identically at each";
        assertThat(check("""
                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns = ["file:FOLDER/a.img?size=1MiB", "file:FOLDER/b.img?size=1MiB"]
                [[target]]
                iqn = "iqn.2026-11.org.example:b"
                luns = [
                    "file:FOLDER/a.img?read-only=false&size=1MiB",
                    "file:FOLDER/b.img?size=1MiB",
                    { uri = "file:FOLDER/b.img?size=1MiB", thick = true },
                    "file:FOLDER/b.img?size=2MiB",
                    "file:FOLDER/b.img",
                ]
                """, 1)).satisfiesExactly(
                one -> assertThat(one).startsWith("7:5: ").contains("by another URI already"),
                one -> assertThat(one).startsWith("9:7: ").endsWith(differs),
                one -> assertThat(one).startsWith("10:5: ").contains("with two sizes"),
                one -> assertThat(one).startsWith("11:5: ").contains("does not exist"));
    }

    @Test
    void shouldRequireTheSameSizeAtAllLunsOfADevice() throws IOException {
        Files.write(folder.resolve("there.img"), new byte[1 << 20]);
        assertThat(check("""
                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns = ["file:FOLDER/there.img?size=1MiB", "file:FOLDER/there.img"]
                """, 1)).singleElement().asString().startsWith("3:")
                .endsWith("must be configured identically at each");
    }

    @Test
    void shouldListAllErrorsOfSyntaxAlone() throws IOException {
        assertThat(check("a = 1 b = 2\nluns2 = []\nc = }\n", 1))
                .allSatisfy(line -> assertThat(line).contains(": not TOML: "))
                .first().asString().startsWith("1:7: ");
    }

    @Test
    void shouldCheckSecretsAndWhoMayConnect() throws IOException {
        secret("good", "a secret of enough bytes", PRIVATE);
        secret("short", "short", PRIVATE);
        secret("open", "another secret of enough bytes", "rw-r--r--");
        assertThat(check("""
                portals = ["0.0.0.0:3260"]
                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns = ["ram:1MiB"]
                [[target]]
                iqn = "iqn.2026-11.org.example:b"
                luns = ["ram:1MiB"]
                chap = "me:@FOLDER/missing"
                [[target]]
                iqn = "iqn.2026-11.org.example:c"
                luns = ["ram:1MiB"]
                chap = "me:@FOLDER/short"
                [[target]]
                iqn = "iqn.2026-11.org.example:d"
                luns = ["encrypt=FOLDER/no.key:ram:1MiB"]
                chap = "me:@FOLDER/good"
                  [[target.initiator]]
                  name = "iqn.2026-11.org.example:host"
                  chap = "you:@FOLDER/open"
                  [[target.initiator]]
                  name = "host"
                """, 1)).satisfiesExactly(
                one -> assertThat(one).isEqualTo("3:1: other machines can reach target"
                        + " iqn.2026-11.org.example:a: give it a 'chap', or set"
                        + " 'allow-anonymous = true'"),
                one -> assertThat(one).startsWith("8:1: ").contains("missing", "does not exist"),
                one -> assertThat(one).startsWith("12:1: ").contains("less than 12 bytes"),
                one -> assertThat(one).startsWith("15:9: ").contains("no.key does not exist"),
                one -> assertThat(one).startsWith("19:3: warning: ").contains("FOLDER/open"),
                one -> assertThat(one).startsWith("21:3: ").contains("not the iSCSI name"));
    }

    @Test
    void shouldCheckWhoMayConnectAlsoWhereAPortalIsWrong() throws IOException {
        assertThat(check("""
                portals = ["0.0.0.0:3260", "nowhere.invalid", "a:b:c"]
                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns = ["ram:1MiB"]
                """, 1)).satisfiesExactly(
                one -> assertThat(one).startsWith("1:28: ").contains("nowhere.invalid"),
                one -> assertThat(one).startsWith("1:47: ").contains("HOST:PORT"),
                one -> assertThat(one).startsWith("3:1: other machines can reach"));
    }

    /** Each at its own portal, and what is wrong elsewhere too. */
    @Test
    void shouldCheckFilesOfPortals() throws IOException {
        var _ = TestCertificates.in(folder);
        secret("readable.key", Files.readString(folder.resolve("server.key")), "rw-r--r--");
        secret("writable.key", Files.readString(folder.resolve("server.key")), "rw-rw-rw-");
        assertThat(check(
                """
                        portals = [
                            { listen = "127.0.0.1:1", transport = "iscsis", certificate = "FOLDER/server.pem", key = "FOLDER/server.key" },
                            { listen = "127.0.0.1:2", transport = "iscsis", certificate = "FOLDER/none.pem", key = "FOLDER/server.key" },
                            { listen = "[::1]:3", transport = "iscsis", certificate = "FOLDER/server.pem", key = "FOLDER/writable.key" },
                            { listen = "nowhere.invalid:4", transport = "iscsis", certificate = "FOLDER/server.pem", key = "FOLDER/none.key" },
                            { listen = "127.0.0.1:5", transport = "iscsis", certificate = "FOLDER/server.pem", key = "FOLDER/readable.key" },
                            { listen = "127.0.0.1:6", transport = "iscsis", certificate = "FOLDER/expired.pem", key = "FOLDER/server.key" },
                            { listen = "127.0.0.1:7", transport = "iscsis" },
                        ]
                        [[portal-group]]
                        tag = 2
                        portals = [{ listen = "127.0.0.1:8", transport = "iscsis", certificate = "FOLDER/server.pem", key = "FOLDER/server.key", client-ca = "FOLDER/none.pem" }]
                        [[target]]
                        iqn = "iqn.2026-11.org.example:a"
                        luns = ["ram:1MiB"]
                        chap = "me:@FOLDER/missing"
                        """,
                1)).satisfiesExactly(
                        one -> assertThat(one).startsWith("3:53: portal 127.0.0.1:2: ")
                                .contains("none.pem"),
                        one -> assertThat(one).isEqualTo("4:49: portal [::1]:3: key file"
                                + " FOLDER/writable.key can be written by other users; chmod 600 it"),
                        one -> assertThat(one).startsWith("5:7: ").contains("unknown host"),
                        one -> assertThat(one).startsWith("5:59: portal nowhere.invalid:4: ")
                                .contains("none.key"),
                        one -> assertThat(one)
                                .isEqualTo("6:53: warning: portal 127.0.0.1:5: key file"
                                        + " FOLDER/readable.key can be read by other users; chmod 600 it"),
                        one -> assertThat(one).startsWith("7:53: warning: portal 127.0.0.1:6: the"
                                + " certificate in FOLDER/expired.pem expired on ")
                                .endsWith(": renew it"),
                        one -> assertThat(one).startsWith("8:5: ").contains("needs 'certificate'"),
                        one -> assertThat(one).startsWith("12:60: portal 127.0.0.1:8: ")
                                .contains("none.pem"),
                        one -> assertThat(one).startsWith("16:1: ").contains("does not exist"));
    }

    @Test
    void shouldWarnOfASizeThatOnlyAReloadAccepts() throws IOException {
        Files.write(folder.resolve("a.img"), new byte[8192]);
        for (String size : List.of("4k", "16k")) {
            assertThat(check("luns = ['file:FOLDER/a.img?size=" + size + "']\n", 0).getFirst())
                    .startsWith("1:9: warning: 'luns': FOLDER/a.img exists with 8192 bytes")
                    .endsWith("a reload can resize what is served");
        }
        assertThat(check("luns = ['file:FOLDER/a.img?size=8k']\n", 0))
                .singleElement().asString().endsWith("no errors");
    }

    @Test
    void shouldReportAFileUnderTwoNames() throws IOException {
        Files.write(folder.resolve("a.img"), new byte[8192]);
        assertThat(check("""
                luns = [
                    'file:FOLDER/a.img',
                    'file:FOLDER/a.img',
                    'file:FOLDER/./a.img',
                    'file:FOLDER/a.img?io=direct',
                    'file:FOLDER/new.img?size=1M',
                    'file:FOLDER/../new.img?size=1M']
                """, 1)).satisfiesExactly(
                one -> assertThat(one).startsWith("4:5: file:FOLDER/./a.img is FOLDER/a.img,"
                        + " which is served by another URI already"),
                one -> assertThat(one).startsWith("5:5: "));
    }

    /** What is there instead of USER:@FILE may be a secret. */
    @ParameterizedTest
    @ValueSource(strings = {"chap = 'me:hushhushhush'", "mutual-chap = 'hushhushhush'",
            "discovery-chap = ':@hushhushhush'",
            "[[target]]\niqn = 'iqn.2026-11.a:b'\nluns = ['ram:1M']\nmutual-chap = 'me:hushhush'",
            "[[target]]\niqn = 'iqn.2026-11.a:b'\nluns = ['ram:1M']\n"
                    + "[[target.initiator]]\nname = 'iqn.2026-11.a:c'\nchap = 'hushhush'"})
    void shouldNotTellASecretInTheFile(String line) throws IOException {
        String text = "portals = ['0.0.0.0:3260']\nallow-anonymous = true\nluns = ['ram:1M']\n"
                + line + "\n";
        assertThat(check(text, 1)).anySatisfy(one -> assertThat(one)
                .contains("chap' must be USER:@FILE, where FILE holds the secret"))
                .noneMatch(one -> one.contains("hush"));
        String file = folder.resolve("lunar.toml").toString();
        String good = file("good.toml", "luns = ['ram:1M']\n").toString();
        for (var run : List.of(CommandRun.of("config", "show", file),
                CommandRun.of("config", "diff", file, good),
                CommandRun.of("config", "diff", good, file))) {
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.out() + run.err()).contains("USER:@FILE").doesNotContain("hush");
        }
    }

    @Test
    void shouldNamePlaceOfAMalformedUri() throws IOException {
        String good = file("good.toml", "luns = ['ram:1M']\n").toString();
        String bad = file("bad.toml", "luns = ['ram:1M', 'nonsense']\n").toString();
        for (String[] words : List.of(new String[]{"config", "diff", good, bad},
                new String[]{"serve", "--config", bad})) {
            CommandRun.of(words).fails(1, bad + ":1:19: 'luns': 'nonsense' is not a device URI");
        }
        assertThat(check("luns = ['nonsense']\n", 1)).hasSize(1);
        assertThat(check("luns = ['', { uri = '' }]\n", 1)).satisfiesExactly(
                one -> assertThat(one).startsWith("1:9: 'luns': an empty string names no device"),
                one -> assertThat(one).startsWith("1:15: "));
    }

    @Test
    void shouldCheckVolumes() throws IOException {
        Files.write(folder.resolve("a.img"), new byte[4096]);
        assertThat(check("""
                luns = ["raid1:v", "raid5:w"]
                [[volume]]
                name = "v"
                level = "raid1"
                members = [
                    "file:FOLDER/a.img",
                    "file:FOLDER/b.img"]
                [[volume]]
                name = "w"
                level = "raid6"
                members = [
                    "file:FOLDER/a.img",
                    "file:FOLDER/b.img"]
                degraded = "yes"
                """, 1)).containsExactly("1:20: 'luns': raid5:w is configured as raid6:w",
                "7:5: volume v: 'members': FOLDER/b.img does not exist; add ?size=1GiB to create"
                        + " it",
                "13:5: warning: volume w: 'members': FOLDER/b.img does not exist; add ?size=1GiB"
                        + " to create it");
    }

    @Test
    void shouldAcceptAFileThatAServerStartsWith() throws IOException {
        Path file = file("lunar.toml", "luns = ['file:FOLDER/new.img?size=1MiB', 'ram:1MiB']\n");
        assertThat(CommandRun.of("config", "check", file.toString()).succeeds().out())
                .isEqualTo(file + ": no errors\n");
        assertThat(folder.resolve("new.img")).doesNotExist();
        JsonNode json = JsonMapper.shared().readTree(
                CommandRun.of("config", "check", file.toString(), "--json").succeeds().out());
        assertThat(json.path("valid").asBoolean()).isTrue();
        String missing = folder.resolve("no.toml").toString();
        CommandRun.of("config", "check", missing).fails(1, "does not exist");
        var run = CommandRun.of("config", "check", missing, file.toString(), "--json");
        assertThat(run.status()).isEqualTo(1);
        JsonNode findings = JsonMapper.shared().readTree(run.out()).path("findings");
        assertThat(findings.size()).isEqualTo(1);
        assertThat(findings.path(0).path("file").asString()).isEqualTo(missing);
        assertThat(findings.path(0).path("message").asString()).contains("does not exist");
    }

    @Test
    void shouldWriteErrorsAsJson() throws IOException {
        Path file = file("lunar.toml", "\nlun = []\n");
        var run = CommandRun.of("config", "check", file.toString(), "--json");
        assertThat(run.status()).isEqualTo(1);
        JsonNode finding = JsonMapper.shared().readTree(run.out()).path("findings").path(0);
        assertThat(finding.path("file").asString()).isEqualTo(file.toString());
        assertThat(finding.path("line").asInt()).isEqualTo(2);
        assertThat(finding.path("column").asInt()).isEqualTo(1);
        assertThat(finding.path("severity").asString()).isEqualTo("error");
        assertThat(finding.path("message").asString()).contains("did you mean 'luns'?");
    }

    @Test
    void shouldNamePlaceAndNumberOfErrorsWhenServing() throws IOException {
        Path file = file("lunar.toml", "luns = ['ram:1MiB']\nlun = 1\nchap = 2\n");
        CommandRun.of("serve", "--config", file.toString()).fails(1,
                "lunar: " + file + ":2:1: unknown key 'lun'; did you mean 'luns'?",
                "(and 1 more error; 'lunar config check " + file + "' lists them)");
    }

    private static final String WHOLE = """
            portals = ["127.0.0.1:3261"]
            chap = "me:@FOLDER/secret"
            [limits]
            sessions = 100
            poll = "50us"
            [[portal-group]]
            tag = 7
            portals = [{ listen = "0.0.0.0:3262", advertise = "192.0.2.1:3260" }]
            moved = "192.0.2.2:3260"
            [[volume]]
            name = "v"
            level = "raid1"
            members = ["file:a.img", "iscsi://user%hush@192.0.2.9/iqn.2026-11.org.example:x/0"]
            rebuild-rate = "1MiB"
            [[target]]
            iqn = "iqn.2026-11.org.example:a"
            alias = "a \\"disk\\""
            luns = ["iscsi://user%hush@192.0.2.9/iqn.2026-11.org.example:x/1", { lun = 5, uri = "ram:1MiB", thick = true }]
            access = { 7 = "standby" }
            [[target.initiator]]
            name = "*"
            luns = { 0 = 5 }
            read-only = true
            [[target]]
            iqn = "iqn.2026-11.org.example:b"
            maintenance = true
            """;

    @Test
    void shouldShowAConfigurationThatMeansTheSame() throws IOException {
        Path file = file("lunar.toml", WHOLE);
        String shown = CommandRun.of("config", "show", file.toString()).succeeds().out();
        assertThat(shown).doesNotContain("hush").contains("""
                portals = ["127.0.0.1:3261"]
                chap-algorithms = ["sha3-256", "sha-1", "md5", "sha-256"]
                announce-resets = true
                allow-anonymous = false
                header-digest = "allow"
                data-digest = "allow"

                [limits]
                sessions = 100
                """, "poll = \"50us\"", "alias = \"a \\\"disk\\\"\"", "groups = [1, 7]",
                """
                        luns = [
                            { lun = 0, uri = "iscsi://user@192.0.2.9/iqn.2026-11.org.example:x/1", removable = false,\
                         rotational = false, read-only = false, thick = false },
                            { lun = 5, uri = "ram:1MiB", removable = false, rotational = false, read-only = false,\
                         thick = true },
                        ]
                        """,
                "chap = \"me:@" + folder + "/secret\"");
        Path again = file("again.toml", shown);
        assertThat(CommandRun.of("config", "show", again.toString()).succeeds().out())
                .isEqualTo(shown);
        JsonNode json = JsonMapper.shared().readTree(
                CommandRun.of("config", "show", file.toString(), "--json").succeeds().out());
        assertThat(json.path("limits").path("sessions-per-address").asInt()).isEqualTo(64);
        assertThat(json.path("target").path(1).path("maintenance").asBoolean()).isTrue();
        assertThat(json.toString()).doesNotContain("hush");
    }

    @Test
    void shouldTellWhatAReloadWouldChange() throws IOException {
        Path old = file("old.toml", WHOLE);
        assertThat(CommandRun.of("config", "diff", old.toString(), old.toString()).succeeds()
                .out()).isEqualTo("no changes\n");
        Path now = file("new.toml", WHOLE.replace("127.0.0.1:3261", "127.0.0.1:3263")
                .replace("ram:1MiB", "ram:2MiB").replace("sessions = 100", "loops = 3")
                .replace("thick = true", "read-only = true").replace("/1\"", "/2\"")
                .replace("standby", "optimized").replace("maintenance = true", "removed = true")
                .replace("me:@", "you:@"));
        List<String> lines = CommandRun.of("config", "diff", old.toString(), now.toString())
                .succeeds().out().lines().toList();
        String a = "iqn.2026-11.org.example:a";
        String chap = "target " + a + ": chap";
        assertThat(lines).doesNotHaveDuplicates().contains(
                "no longer listening on 127.0.0.1:3261", "listening on 127.0.0.1:3263",
                "no longer serving " + a + " lun 0"
                        + " iscsi://user@192.0.2.9/iqn.2026-11.org.example:x/1",
                "serving " + a + " lun 0 iscsi://user@192.0.2.9/iqn.2026-11.org.example:x/2 on"
                        + " 127.0.0.1:3263,0.0.0.0:3262",
                "resized " + a + " lun 5 ram:2MiB from 1MiB to 2MiB",
                "changed limits: sessions from 100 to 65535",
                "changed target " + a + ": lun 5: read-only from false to true",
                "changed target " + a + ": access from { 7 = \"standby\" } to"
                        + " { 7 = \"optimized\" }",
                "changed " + chap + " from \"me:@" + folder + "/secret\" to \"you:@" + folder
                        + "/secret\"",
                "set target iqn.2026-11.org.example:b: removed to true",
                "removed target iqn.2026-11.org.example:b: maintenance, which was true");
        assertThat(lines).anySatisfy(line -> assertThat(line)
                .startsWith("changed limits: loops from ")
                .endsWith(" to 3; takes effect at the next start"));
        assertThat(JsonMapper.shared().readTree(CommandRun
                .of("config", "diff", old.toString(), now.toString(), "--json").succeeds().out())
                .path("changes").size()).isEqualTo(lines.size());
    }

    @Test
    void shouldTellThatAReloadShrinksNothing() throws IOException {
        Path old = file("old.toml", "luns = ['ram:2MiB', 'ram:2MiB']\n");
        Path now = file("new.toml", "luns = ['ram:1MiB', 'ram:3MiB']\n");
        assertThat(CommandRun.of("config", "diff", old.toString(), now.toString()).succeeds()
                .out().lines()).satisfiesExactly(
                        one -> assertThat(one)
                                .endsWith(" from 2MiB to 1MiB; refused: a device cannot be"
                                        + " shrunk while it is served"),
                        one -> assertThat(one).endsWith(" from 2MiB to 3MiB"));
    }

    @Test
    void shouldPrintTheSchema() {
        JsonNode schema = JsonMapper.shared()
                .readTree(CommandRun.of("config", "schema").succeeds().out());
        assertThat(schema.path("properties").has("portals")).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"check", "show", "diff a.toml"})
    void shouldRequireFiles(String words) {
        CommandRun.of(("config " + words).split(" ")).fails(2, "Missing required parameter");
    }
}
