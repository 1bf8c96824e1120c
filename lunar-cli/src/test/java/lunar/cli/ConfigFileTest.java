package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("lunar.toml"), text);
    }

    @Test
    void shouldReadEveryOption() throws Exception {
        ConfigFile config = ConfigFile.read(
                file("""
                        portals = ["127.0.0.1:3261", "[::1]"]
                        iqn = "iqn.2026-11.org.example:first"
                        luns = ["ram:1MiB"]
                        chap = "me:@secret"
                        mutual-chap = "lunar:@other"
                        allow-anonymous = true
                        header-digest = "prefer"
                        data-digest = "require"

                        [[target]]
                        iqn = "iqn.2026-11.org.example:second"
                        alias = "two disks"
                        luns = ["ram:2MiB", { uri = "ram:3MiB", removable = true, rotational = true, read-only = true, thick = true }]

                        [[target]]
                        iqn = "iqn.2026-11.org.example:third"
                        luns = ["ram:4MiB"]
                        chap = "you:@secret"
                        """));
        assertThat(config.portals()).containsExactly(new Portal("127.0.0.1", 3261),
                new Portal("::1", 3260));
        assertThat(config.allowAnonymous()).isTrue();
        assertThat(config.headerDigest()).contains(Digest.PREFER);
        assertThat(config.dataDigest()).contains(Digest.REQUIRE);
        var me = Optional.of("me:@secret");
        var mutual = Optional.of("lunar:@other");
        assertThat(config.targets()).containsExactly(
                new ServePlan.Target("iqn.2026-11.org.example:first", "",
                        List.of(ServePlan.Lun.of("ram:1MiB")), me, mutual),
                new ServePlan.Target("iqn.2026-11.org.example:second", "two disks",
                        List.of(ServePlan.Lun.of("ram:2MiB"),
                                new ServePlan.Lun("ram:3MiB", true, true, true, true)),
                        me, mutual),
                new ServePlan.Target("iqn.2026-11.org.example:third", "",
                        List.of(ServePlan.Lun.of("ram:4MiB")),
                        Optional.of("you:@secret"), Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            colour = 'red'                               | unknown key 'colour'
            portals = '127.0.0.1'                        | 'portals' must be a list
            portals = [1]                                | 'portals' must be a list
            portals = ['a:b:c']                          | HOST:PORT
            luns = 'ram:1MiB'                            | 'luns' must be a list
            luns = [1]                                   | a list of device URIs, or of tables
            luns = [{removable = true}]                  | a LUN has no 'uri'
            luns = [{uri = 'ram:1MiB', color = 1}]       | unknown key 'color' of a LUN
            iqn = 'iqn.2026-11.org.example:x'            | needs 'luns'
            chap = 3                                     | 'chap' must be a text
            allow-anonymous = 'yes'                      | true or false
            data-digest = 'maybe'                        | none, allow, prefer, require
            target = 3                                   | [[target]]
            target = [3]                                 | [[target]]
            [[target]]                                   | no 'iqn'
            target = [{iqn = 'iqn.2026-11.a:b'}]         | no 'luns'
            target = [{iqm = 'iqn.2026-11.a:b'}]         | unknown key 'iqm' of a target
            portals =                                    | line 1 is not TOML
            """, quoteCharacter = '`')
    void shouldNameWhatIsWrong(String text, String words) throws IOException {
        Path file = file(text + "\n");
        assertThatThrownBy(() -> ConfigFile.read(file)).isInstanceOf(Failure.class)
                .hasMessageContaining(file.toString()).hasMessageContaining(words);
        CommandRun.of("serve", "--config", file.toString()).fails(1, words);
    }

    @Test
    void shouldSayThatThereIsNoSuchFile() {
        CommandRun.of("serve", "--config", folder.resolve("nothing.toml").toString()).fails(1,
                "nothing.toml", "does not exist");
        CommandRun.of("serve", "--config", folder.toString()).fails(1, "cannot be read");
    }

    @Test
    void shouldServeItsTargetsWithWhatTheCommandLineSaysFirst() throws Exception {
        Path file = file("""
                portals = ["127.0.0.1:1"]
                [[target]]
                iqn = "iqn.2026-11.org.example:a"
                luns = ["ram:1MiB"]
                [[target]]
                iqn = "iqn.2026-11.org.example:b"
                luns = ["ram:2MiB"]
                """);
        try (var serving = new CommandRun.Serving(3, "serve", "ram:3MiB", "--portal",
                "127.0.0.1:0", "--config", file.toString())) {
            assertThat(CommandRun.of("discover", serving.portal()).succeeds().out().lines())
                    .hasSize(3);
            assertThat(serving.lines()).anySatisfy(
                    line -> assertThat(line).contains("example:b lun 0 ram:2MiB 2MiB on"));
        }
    }

    @Test
    void shouldRefuseMutualChapAlone() throws Exception {
        Path file = file("luns = ['ram:1MiB']\nportals = ['127.0.0.1:0']\nmutual-chap = 'a:@b'\n");
        CommandRun.of("serve", "--config", file.toString()).fails(1, "mutual-chap without chap");
    }
}
