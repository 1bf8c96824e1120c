package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The messages that {@code docs/howto/troubleshooting.md} explains are those of the sources. A message is split at its
 * placeholders, {@code <path>}; each fixed part of some length has to be in a string constant, or to consist of pieces
 * of such constants, as a message does whose wording depends on a condition.
 */
class DocumentedMessagesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern KEY = Pattern.compile("\\| `([^`]+)`( \\(\\d+\\))? \\|.*");
    private static final int LEAST_LENGTH = 12;
    private static final int LEAST_PIECE = 6;
    private static final int LEAST_MESSAGES = 60;

    private static String constants = "";

    static List<String> messages() throws IOException {
        return Files.readAllLines(ROOT.resolve("docs/howto/troubleshooting.md")).stream()
                .map(KEY::matcher).filter(Matcher::matches).map(row -> row.group(1)).toList();
    }

    @BeforeAll
    static void readSources() throws IOException {
        var all = new ArrayList<String>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.sorted().toList()) {
                Path sources = module.resolve("src/main/java");
                if (Files.isDirectory(sources)) {
                    try (Stream<Path> files = Files.walk(sources)) {
                        for (Path file : files.toList()) {
                            if (file.toString().endsWith(".java")) {
                                all.addAll(JavaStrings.of(Files.readString(file)));
                            }
                        }
                    }
                }
            }
        }
        constants = String.join("\n", all).replace("''", "'"); // as MessageFormat writes it
    }

    @ParameterizedTest
    @MethodSource("messages")
    void shouldBeAMessageOfTheSources(String message) {
        assertThat(parts(message)).as(message).isNotEmpty()
                .allSatisfy(part -> assertThat(isOfConstants(part)).as(part).isTrue());
    }

    @Test
    void shouldFindTheMessages() throws IOException {
        assertThat(messages()).hasSizeGreaterThanOrEqualTo(LEAST_MESSAGES).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {"<path> is in use by another procession",
            "<path> is inn use by another process"})
    void shouldNoticeAMessageThatIsNotThere(String message) {
        assertThat(parts(message)).isNotEmpty()
                .noneMatch(DocumentedMessagesTest::isOfConstants);
    }

    @Test
    void shouldReadStringConstants() {
        assertThat(JavaStrings.of("""
                f("a \\"b\\"" // "no"
                  + "c", '"', /* "no" */ "d" + e + "f\\n" + (g ? "h" : "i"));"""))
                .containsExactly("a \"b\"c", "d", "f\n", "h", "i");
    }

    /** Returns the fixed parts of a message that are long enough to be characteristic. */
    private static List<String> parts(String message) {
        return Stream.of(message.split("<[^>]*>"))
                .map(part -> part.replaceAll("^[\\s:;,()]+|[\\s:;,()]+$", ""))
                .filter(part -> part.length() >= LEAST_LENGTH).toList();
    }

    /** Whether a text consists of pieces of constants; each piece is taken as long as possible. */
    private static boolean isOfConstants(String text) {
        int from = 0;
        while (from < text.length()) {
            int found = from;
            int missing = text.length() + 1;
            while (missing - found > 1) {
                int middle = (found + missing) >>> 1;
                if (constants.contains(text.substring(from, middle))) {
                    found = middle;
                } else {
                    missing = middle;
                }
            }
            if (found - from < LEAST_PIECE) {
                return false;
            }
            from = found;
        }
        return true;
    }
}
