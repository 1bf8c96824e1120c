package lunar.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import lunar.cli.command.Console;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invalid command lines, and help. */
class UsageTest {
    @ParameterizedTest
    @ValueSource(strings = {"serve", "discover", "info", "copy", "bench", "browse", "demo",
            "accept-loss", "status", "sessions", "luns", "top", "logout", "reload",
            "lun", "drain"})
    void shouldShowHelpWithAnExample(String command) {
        CommandRun run = CommandRun.of(command, "--help").succeeds();
        assertThat(run.out()).startsWith("Usage: lunar " + command).contains("Example")
                .contains("\n  lunar " + command);
        assertThat(run.err()).isEmpty();
    }

    @Test
    void shouldListTheCommandsButNotTheHiddenOne() {
        assertThat(CommandRun.of("--help").succeeds().out())
                .contains("serve", "discover", "info", "copy", "bench", "browse", "raid", "osd",
                        "demo",
                        "Example:")
                .contains("iscsi://[user[%secret]@]host[:port]/iqn/lun")
                .doesNotContain("warm-up");
    }

    @Test
    void shouldReportItsVersion() {
        assertThat(CommandRun.of("--version").succeeds().out())
                .matches("(?s)lunar \\d+\\.\\d+\\.\\d+\\S* \\(Java 25.*");
    }

    @Test
    void shouldShowHelpByACommandToo() {
        assertThat(CommandRun.of("help").succeeds().out())
                .isEqualTo(CommandRun.of("--help").succeeds().out());
        var nowhere = new PrintWriter(Writer.nullWriter());
        List<String> commands = Main.commandLine(new Console(nowhere, nowhere, false))
                .getSubcommands().keySet().stream().sorted().toList();
        assertThat(commands).contains("serve", "copy", "raid", "help", "manual", "warm-up");
        for (String command : commands) {
            assertThat(CommandRun.of("help", command).succeeds().out())
                    .isEqualTo(CommandRun.of(command, "--help").succeeds().out());
        }
    }

    @Test
    void shouldBuildOnlyTheCommandThatIsRun() {
        var nowhere = new PrintWriter(Writer.nullWriter());
        var line = Main.commandLine(new Console(nowhere, nowhere, false), "serve", "ram:1MiB");
        assertThat(line.getSubcommands()).containsOnlyKeys("serve");
    }

    @Test
    void shouldPrintACompletionScriptThatBashAccepts() throws Exception {
        String script = CommandRun.of("completion").succeeds().out();
        assertThat(script).contains("complete -F", "raid", "--allow-anonymous")
                .doesNotContain("warm-up");
        Process bash = new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
        try (var input = bash.outputWriter()) {
            input.write(script);
        }
        assertThat(new String(bash.getInputStream().readAllBytes(), UTF_8)).isEmpty();
        assertThat(bash.waitFor()).isZero();
    }

    @Test
    void shouldRequireACommand() { CommandRun.of().fails(2, "missing command", "--help"); }

    @Test
    void shouldSuggestTheCommandThatWasMeant() {
        CommandRun.of("srve").fails(2, "srve", "did you mean serve");
    }

    @Test
    void shouldSuggestTheOptionThatWasMeant() {
        CommandRun.of("serve", "ram:1MiB", "--portl", "127.0.0.1:0").fails(2, "--portl",
                "--portal");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    serve                                                | nothing to serve
                    serve --iqn iqn.2026-11.org.example:x                | no
                    serve ram:1MiB --mutual-chap me:@file                | --mutual-chap needs --chap
                    serve ram:1MiB --portal nothing:at:all               | HOST:PORT
                    serve ram:1MiB --portal 127.0.0.1:70000              | HOST:PORT
                    serve ram:1MiB --header-digest maybe                 | none, allow, prefer, require
                    serve ram:1MiB --log-level loud                      | not one of error, warn, info
                    serve ram:1MiB --log-format xml                      | not one of text, json
                    config                                               | missing command
                    config check                                         | FILE
                    discover                                             | HOST[:PORT]
                    discover 127.0.0.1:0                                 | port 0
                    discover a:b:c                                       | HOST:PORT
                    discover isns://a:b:c                                | 127.0.0.1:3205
                    discover isns://127.0.0.1:0                          | port 0
                    discover isns://127.0.0.1 --chap me:@file            | omit --chap
                    discover 127.0.0.1 --mutual-chap me:@file            | --mutual-chap needs --chap
                    discover 127.0.0.1 --chap-algorithms md5             | --chap-algorithms needs --chap
                    discover isns://127.0.0.1 --chap-algorithms md5      | omit --chap
                    serve ram:1MiB --isns a:b:c                          | 127.0.0.1:3205
                    info                                                 | URI
                    info ram:1MiB ram:2MiB                               | ram:2MiB
                    copy ram:1MiB                                        | DST
                    copy ram:1MiB ram:1MiB --block-size 1x               | is not a size
                    copy ram:1MiB ram:1MiB --block-size 1000             | --block-size
                    copy ram:1MiB ram:1MiB --qd 0                        | --qd
                    copy ram:1MiB ram:1MiB --qd many                     | --qd
                    browse                                               | URI
                    browse ram:1MiB --listen a:b:c                       | HOST:PORT
                    browse ram:1MiB --list / --cat /x                    | exclude each other
                    browse ram:1MiB --list / --listen 127.0.0.1          | cannot be used
                    browse ram:1MiB --volume 1                           | --volume requires
                    browse ram:1MiB --volume one --list /                | --volume
                    browse ram:1MiB --json                               | --json requires
                    bench ram:1MiB                                       | --rw
                    bench ram:1MiB --rw sometimes                        | randread, randwrite, read, write, randrw
                    bench ram:1MiB --rw read --bs 4x                     | is not a size
                    bench ram:1MiB --rw read --bs 0                      | --bs must be
                    bench ram:1MiB --rw read --time soon                 | is not a time
                    bench ram:1MiB --rw read --time 0s                   | --time
                    bench ram:1MiB --rw read --qd 0                      | --qd must be
                    bench ram:1MiB --rw read --threads 0                 | --threads must be
                    bench ram:1MiB --rw randrw --rwmixread 101           | --rwmixread must be
                    """)
    void shouldReportErrorsInACommandLine(String line, String words) {
        CommandRun.of(line.split(" ")).fails(2, words, "--help");
    }
}
