package lunar.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class LogFormatTest {
    private final LoggerContext context = new LoggerContext();

    private String line(LogFormat format, StandardError stream, Level level, String message,
            @Nullable Throwable cause) {
        Layout<ILoggingEvent> layout = format.layout(stream);
        layout.setContext(context);
        layout.start();
        var event = new LoggingEvent("here", context.getLogger("lunar.target"), level, message,
                cause, null);
        event.setTimeStamp(1_800_000_000_123L);
        return layout.doLayout(event);
    }

    @Test
    void shouldWriteTimeAndDateForAFileAndTimeForATerminal() {
        assertThat(line(LogFormat.TEXT, StandardError.FILE, Level.WARN, "a\nb",
                new IOException("c"))).matches("2027-01-1\\dT\\d\\d:\\d\\d:00\\.123"
                        + "(Z|[+-]\\d\\d:\\d\\d) WARN  target: a; b: IOException: c\\R");
        assertThat(line(LogFormat.TEXT, StandardError.TERMINAL, Level.INFO, "a", null))
                .matches("\\d\\d:\\d\\d:00\\.123 INFO  target: a\\R");
    }

    @ParameterizedTest
    @CsvSource({"ERROR, 3", "WARN, 4", "INFO, 6", "DEBUG, 7", "TRACE, 7"})
    void shouldWritePriorityForTheJournal(String level, int priority) {
        assertThat(line(LogFormat.TEXT, StandardError.JOURNAL, Level.valueOf(level), "a", null))
                .matches("<" + priority + ">" + level + " *target: a\\R");
    }

    @Test
    void shouldWriteJson() {
        String line = line(LogFormat.JSON, StandardError.FILE, Level.ERROR, "a \"b\"\n",
                new IOException("c"));
        assertThat(line.lines()).hasSize(1);
        JsonNode json = JsonMapper.shared().readTree(line);
        assertThat(json.path("time").asString()).isEqualTo("2027-01-15T08:00:00.123Z");
        assertThat(json.path("level").asString()).isEqualTo("error");
        assertThat(json.path("logger").asString()).isEqualTo("lunar.target");
        assertThat(json.path("message").asString()).isEqualTo("a \"b\"\n");
        assertThat(json.path("exception").asString()).isEqualTo("java.io.IOException: c");
    }

    @Test
    void shouldWriteThePriorityOfJsonForTheJournal() {
        assertThat(line(LogFormat.JSON, StandardError.JOURNAL, Level.WARN, "a", null))
                .startsWith("<4>{");
    }

    @Test
    void shouldRecogniseTheJournalByItsStream(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("stream"));
        Path link = Files.createSymbolicLink(folder.resolve("2"), file);
        var numbers = Files.readAttributes(file, "unix:dev,ino");
        String journal = numbers.get("dev") + ":" + numbers.get("ino");
        assertThat(StandardError.of(journal, link)).isEqualTo(StandardError.JOURNAL);
        assertThat(StandardError.of(numbers.get("dev") + ":1", link))
                .isEqualTo(StandardError.FILE);
        assertThat(StandardError.of(null, link)).isEqualTo(StandardError.FILE);
        Path terminal = Files.createSymbolicLink(folder.resolve("3"), Path.of("/dev/pts/0"));
        assertThat(StandardError.of(null, terminal)).isEqualTo(StandardError.TERMINAL);
        assertThat(StandardError.JOURNAL.errorPrefix()).isEqualTo("<3>");
        assertThat(StandardError.FILE.warningPrefix()).isEmpty();
    }
}
