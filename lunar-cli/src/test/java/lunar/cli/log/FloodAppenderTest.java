package lunar.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FloodAppenderTest {
    private final LoggerContext context = new LoggerContext();
    private final ListAppender<ILoggingEvent> list = new ListAppender<>();
    private final FloodAppender appender = new FloodAppender(list);

    @BeforeEach
    void start() {
        list.start();
        appender.setContext(context);
        appender.start();
    }

    private void log(Level level, long ms, String message) { log("target", level, ms, message); }

    private void log(String logger, Level level, long ms, String message) {
        var event = new LoggingEvent("here", context.getLogger(logger), level, message, null,
                null);
        event.setTimeStamp(ms);
        appender.doAppend(event);
    }

    private List<String> lines() {
        return list.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void shouldLimitLinesThatDifferInNumbersOnly() {
        for (int i = 0; i < 3000; i++) {
            log(Level.WARN, i, "LUN 0: block " + i + " cannot be read");
        }
        assertThat(lines()).hasSize(11).startsWith("LUN 0: block 0 cannot be read")
                .endsWith("further lines like this one are suppressed for 59 s");
        log(Level.WARN, 3000, "LUN 0 has no space left");
        assertThat(lines()).endsWith("LUN 0 has no space left");
        log(Level.WARN, 60_000, "LUN 0: block 7 cannot be read");
        assertThat(lines()).endsWith("suppressed 2990 lines like the following one",
                "LUN 0: block 7 cannot be read");
    }

    @Test
    void shouldPassOnAllLinesThatAreNoWarnings() {
        for (int i = 0; i < 100; i++) {
            log(Level.INFO, i, "login " + i);
        }
        assertThat(lines()).hasSize(100);
    }

    @Test
    void shouldLimitLoginsOfAnInitiatorAndNotThoseOfOthers() {
        for (int i = 0; i < 100; i++) {
            log("lunar.audit", Level.INFO, i, "login: iqn.2026-11.org.example:host from 10.0.0.1:"
                    + (40_000 + i) + " to iqn.2026-11.org.example:disk");
            log("lunar.audit", Level.INFO, i, "logout: iqn.2026-11.org.example:host from 10.0.0.1:"
                    + (40_000 + i) + " to iqn.2026-11.org.example:disk after " + i
                    + ".5 s: logged out");
        }
        assertThat(lines()).hasSize(22);
        for (int i = 0; i < 100; i++) {
            log("lunar.audit", Level.INFO, i, "login: iqn.2026-11.org.example:host" + i
                    + " from 10.0.0.1:4000 to iqn.2026-11.org.example:disk");
        }
        assertThat(lines()).hasSize(122);
    }
}
