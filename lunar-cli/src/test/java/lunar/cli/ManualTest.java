package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lunar.cli.command.Console;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Manual pages say what {@code --help} says. */
class ManualTest {
    @TempDir
    Path folder;

    private String page(String name) throws IOException {
        return Files.readString(folder.resolve("man/" + name + ".1"));
    }

    @Test
    void shouldWriteAPageOfEachCommandThatHelpShows() throws Exception {
        var run = CommandRun.of("manual", folder.resolve("man").toString());
        assertThat(run.status()).isZero();
        try (var files = Files.list(folder.resolve("man"))) {
            assertThat(files.map(file -> file.getFileName().toString())).contains("lunar.1",
                    "lunar-serve.1", "lunar-raid.1", "lunar-raid-create.1", "lunar-config-check.1")
                    .doesNotContain("lunar-warm-up.1", "lunar-manual.1");
        }
        String serve = page("lunar-serve");
        assertThat(serve).startsWith(".TH \"LUNAR-SERVE\" 1 ")
                .contains(".SH \"NAME\"\nlunar\\-serve \\- Serve devices to iSCSI initiators",
                        ".TP\n.B \\-\\-portal=HOST:PORT\nAddress to listen on",
                        ".SH \"EXAMPLES\"\n.nf\n  lunar serve ram:1GiB", ".BR lunar (1)");
    }

    @Test
    void shouldMentionEachOption() throws Exception {
        CommandRun.of("manual", folder.resolve("man").toString());
        var nowhere = new PrintWriter(Writer.nullWriter());
        var lunar = Main.commandLine(new Console(nowhere, nowhere, false)).getSubcommands();
        for (String name : List.of("serve", "copy", "bench")) {
            String page = page("lunar-" + name);
            assertThat(lunar.get(name).getCommandSpec().options())
                    .filteredOn(option -> !option.hidden())
                    .allSatisfy(option -> assertThat(page)
                            .contains(option.longestName().replace("-", "\\-")));
        }
    }

    @Test
    void shouldHaveNoLineThatIsTakenForAnUnknownRequest() throws Exception {
        CommandRun.of("manual", folder.resolve("man").toString());
        try (var files = Files.list(folder.resolve("man"))) {
            for (Path file : files.toList()) {
                assertThat(Files.readAllLines(file))
                        .filteredOn(line -> line.startsWith(".") || line.startsWith("'"))
                        .allSatisfy(line -> assertThat(line)
                                .matches("\\.(TH|SH|TP|PP|B|BR|nf|fi)( .*)?"));
            }
        }
    }
}
