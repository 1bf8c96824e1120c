package lunar.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static String login(int isid, String peer, String end) {
        return String.format(Locale.ROOT, "login: iqn.2026-11.org.example:host (ISID %012x) from %s"
                + " to iqn.2026-11.org.example:disk at 0.0.0.0:3260: no authentication%s", isid,
                peer, end);
    }

    private void audit(long ms, String message) { log("lunar.audit", Level.INFO, ms, message); }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.1:", "[fe80::1c:2ff%eth0]:", "[0:0:0:0:0:0:0:1%br-lan.7]:",
            "host-1.example.org/10.0.0.1:"})
    void shouldLimitLoginsThatDifferInIsidAndPort(String address) {
        for (int i = 0; i < 1000; i++) {
            audit(i, login(i, address + (40_000 + i), ""));
            audit(i, "connection: iqn.2026-11.org.example:host (ISID 00000000000" + i % 10
                    + ") from " + address + i + " to iqn.2026-11.org.example:disk: connection " + i
                    + " from " + address + i);
        }
        assertThat(lines()).hasSize(22);
        audit(1000, login(1, "[fe80::2]:4000", ""));
        audit(1000, login(1, "[fe80::3]:4000", ""));
        assertThat(lines()).as("other addresses").hasSize(24);
    }

    @Test
    void shouldNotHideWhatFollowsALongName() {
        String name = "iqn.2026-11.org.example:" + "a".repeat(199);
        for (int i = 0; i < 100; i++) {
            audit(i, "logout: " + name + " (ISID 000000000001) from 10.0.0.1:" + i + " to " + name
                    + " after 0.1 s: logged out");
        }
        audit(100, "logout: " + name + " (ISID 000000000001) from 10.0.0.1:7 to " + name
                + "b after 0.1 s: logged out");
        assertThat(lines()).hasSize(12).last().asString().contains("ab after");
    }

    @Test
    void shouldKeepCountingWarningsBesideAnyNumberOfLogins() {
        for (int i = 0; i < 2 * FloodAppender.MAX_KINDS; i++) {
            log(Level.WARN, i, "LUN 0: block " + i + " cannot be read");
            audit(i, login(1, "10.0.0.1:4000", " of user" + i));
        }
        assertThat(lines().stream().filter(line -> line.startsWith("LUN 0"))).hasSize(10);
    }

    @Test
    void shouldTellWhatWasSuppressedAlsoWhenNoneFollows() {
        for (int i = 0; i < 15; i++) {
            log(Level.WARN, i, "LUN 0: block " + i + " cannot be read");
        }
        log(Level.INFO, 60_013, "a");
        assertThat(lines()).last().isEqualTo("a");
        log(Level.INFO, 60_014, "b");
        assertThat(lines()).endsWith("a",
                "suppressed 5 lines like this one: LUN 0: block 0 cannot be read", "b");
        log(Level.INFO, 60_015, "c");
        assertThat(lines()).endsWith("b", "c");
    }

    @Test
    void shouldTellWhatWasSuppressedWhenTooManyKindsFollow() {
        for (int i = 0; i < 15; i++) {
            audit(i, login(1, "10.0.0.1:4000", ""));
        }
        for (int i = 0; i < FloodAppender.MAX_KINDS; i++) {
            audit(20, login(1, "10.0.0.1:4000", " of user" + i));
        }
        assertThat(lines()).filteredOn(line -> line.startsWith("suppressed"))
                .containsExactly("suppressed 5 lines like this one: "
                        + login(1, "10.0.0.1:4000", ""));
    }
}
