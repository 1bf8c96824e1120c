package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lunar.cli.ShellWords.Command;
import lunar.cli.command.Console;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * The documents show command lines that {@code lunar} accepts. Blocks of commands are marked {@code sh}; each command
 * in them that begins with {@code lunar} or {@code ./lunar}, {@code sudo} and variables aside, is parsed, not executed.
 */
class DocumentedCommandsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** Fewer would mean that the blocks are no longer found. */
    private static final int LEAST_COMMANDS = 80;

    static List<Path> documents() throws IOException {
        var documents = new ArrayList<>(List.of(ROOT.resolve("README.md")));
        for (String folder : List.of("docs", "docs/howto")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted()
                        .forEach(documents::add);
            }
        }
        return documents;
    }

    @ParameterizedTest
    @MethodSource("documents")
    void shouldAcceptEachCommandLine(Path document) throws IOException {
        var wrong = new ArrayList<String>();
        for (MarkdownBlock block : MarkdownBlock.of(document)) {
            if (block.language().equals("sh")) {
                for (Command command : ShellWords.commands(block.text())) {
                    refusal(command).ifPresent(why -> wrong.add("line "
                            + (block.firstLine() + command.line()) + ": "
                            + String.join(" ", command.words()) + ": " + why));
                }
            }
        }
        assertThat(wrong).as(document.toString()).isEmpty();
    }

    @Test
    void shouldFindTheCommandLines() throws IOException {
        int found = 0;
        for (Path document : documents()) {
            for (MarkdownBlock block : MarkdownBlock.of(document)) {
                if (block.language().equals("sh")) {
                    found += (int) ShellWords.commands(block.text()).stream()
                            .filter(Command::isLunar).count();
                }
            }
        }
        assertThat(found).isGreaterThanOrEqualTo(LEAST_COMMANDS);
    }

    /** A command in a block without a language would not be checked. */
    @ParameterizedTest
    @MethodSource("documents")
    void shouldMarkBlocksOfCommands(Path document) throws IOException {
        assertThat(MarkdownBlock.of(document))
                .filteredOn(block -> !block.language().equals("sh"))
                .flatExtracting(block -> block.text().lines().toList())
                .noneMatch(line -> line.matches("(\\$ )?(sudo )?(\\./)?lunar [a-z].*"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            textBlock = """
                    lunar serve ram:1GiB --portl 127.0.0.1:0           | Unknown option
                    sudo -u lunar lunar raid statuss vol               | Unmatched argument
                    A=b ./lunar copy ram:1MiB                          | Missing required parameter
                    cd /tmp; lunar osd put "$URI" < file               | Missing required parameter
                    lunar bench ram:1MiB --rw sometimes                | Invalid value
                    lunar config                                       | names no command
                    """)
    void shouldRefuseWrongCommandLines(String line, String why) {
        assertThat(ShellWords.commands(line)).filteredOn(Command::isLunar).singleElement()
                .satisfies(command -> assertThat(refusal(command))
                        .hasValueSatisfying(text -> assertThat(text).contains(why)));
    }

    /** Returns why a command line is wrong. */
    private static Optional<String> refusal(Command command) {
        if (!command.isLunar()) {
            return Optional.empty();
        }
        var nowhere = new PrintWriter(Writer.nullWriter());
        try {
            CommandLine.ParseResult last = Main.commandLine(new Console(nowhere, nowhere, false))
                    .parseArgs(command.arguments().toArray(String[]::new));
            while (last.hasSubcommand()) {
                last = last.subcommand();
            }
            boolean isGroup = !last.commandSpec().subcommands().isEmpty();
            return isGroup && !last.isUsageHelpRequested() && !last.isVersionHelpRequested()
                    ? Optional.of("names no command")
                    : Optional.empty();
        } catch (CommandLine.ParameterException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
