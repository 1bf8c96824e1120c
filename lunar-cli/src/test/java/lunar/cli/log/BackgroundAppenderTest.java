package lunar.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stream whose reader stalls. */
class BackgroundAppenderTest {
    private final LoggerContext context = new LoggerContext();
    private final CountDownLatch writing = new CountDownLatch(1);
    private final CountDownLatch read = new CountDownLatch(1);
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private final class Stalled extends AppenderBase<ILoggingEvent> {
        @Override
        protected void append(ILoggingEvent event) {
            writing.countDown();
            try {
                assertThat(read.await(120, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            lines.add(event.getFormattedMessage());
        }
    }

    @BeforeEach
    void setUp() { context.setMDCAdapter(new LogbackMDCAdapter()); }

    private LoggingEvent event(String message) {
        return new LoggingEvent("here", context.getLogger("lunar.target"), Level.INFO, message,
                null, null);
    }

    @Test
    @Timeout(600)
    void shouldNotWaitForTheReaderAndCountWhatItMisses() throws Exception {
        var stalled = new Stalled();
        stalled.setContext(context);
        stalled.start();
        var appender = new BackgroundAppender(stalled);
        appender.setContext(context);
        appender.start();
        appender.doAppend(event("first"));
        assertThat(writing.await(120, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < BackgroundAppender.CAPACITY + 7; i++) {
            appender.doAppend(event("line " + i));
        }
        assertThat(lines).isEmpty();
        read.countDown();
        while (lines.size() < BackgroundAppender.CAPACITY + 2) {
            Thread.sleep(5);
        }
        appender.stop();
        assertThat(lines).hasSize(BackgroundAppender.CAPACITY + 2).startsWith("first", "line 0")
                .contains("7 lines of the log were dropped: its reader was too slow")
                .endsWith("line " + (BackgroundAppender.CAPACITY - 1));
    }

    @Test
    @Timeout(600)
    void shouldWriteWhatIsWaitingBeforeItStops() {
        read.countDown();
        var stalled = new Stalled();
        stalled.setContext(context);
        stalled.start();
        var appender = new BackgroundAppender(stalled);
        appender.setContext(context);
        appender.start();
        appender.doAppend(event("last"));
        appender.stop();
        assertThat(lines).containsExactly("last");
        assertThat(stalled.isStarted()).isFalse();
    }
}
