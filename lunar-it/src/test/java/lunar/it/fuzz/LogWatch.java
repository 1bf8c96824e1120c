package lunar.it.fuzz;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Log handler while the fuzzer runs. A connection may log one WARNING and no ERROR, and nothing may log a stack trace.
 * Also receives uncaught exceptions. Thread-safe.
 */
final class LogWatch extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private static final Pattern ENDED = Pattern
            .compile("connection from \\S*:(\\d+) \\(.*\\) ended: .*", Pattern.DOTALL);
    private static final int PORTS = 1 << 16;

    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final List<Appender<ILoggingEvent>> others = new ArrayList<>();
    private final Level levelBefore = root.getLevel();
    private final Thread.UncaughtExceptionHandler before;
    private final AtomicIntegerArray opened = new AtomicIntegerArray(PORTS);
    private final AtomicIntegerArray warned = new AtomicIntegerArray(PORTS);
    private final AtomicLong warnings = new AtomicLong();
    private final AtomicReferenceArray<String> last = new AtomicReferenceArray<>(PORTS);
    private volatile String failure = "";

    LogWatch() {
        root.iteratorForAppenders().forEachRemaining(others::add);
        others.forEach(root::detachAppender);
        root.setLevel(Level.WARN);
        setContext(root.getLoggerContext());
        start();
        root.addAppender(this);
        before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            var trace = new java.io.StringWriter();
            e.printStackTrace(new java.io.PrintWriter(trace));
            fail("nobody caught in " + thread.getName() + ": " + trace);
        });
    }

    /** A connection of the fuzzer has this port. */
    void opened(int port) {
        opened.incrementAndGet(port);
    }

    @Override
    protected void append(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        if (isOfFailingDevice(event, message)) {
            warnings.incrementAndGet();
            return;
        }
        if (event.getLevel().isGreaterOrEqual(Level.ERROR) || event.getThrowableProxy() != null) {
            fail(event.getLevel() + " " + event.getLoggerName() + ": " + message
                    + (event.getThrowableProxy() == null
                            ? ""
                            : "\n" + ThrowableProxyUtil.asString(event.getThrowableProxy())));
            return;
        }
        warnings.incrementAndGet();
        if (message.indexOf('\n') >= 0 || message.indexOf('\r') >= 0) {
            fail("a log line that is two: " + message);
        }
        Matcher ended = ENDED.matcher(message);
        if (ended.matches()) {
            int port = Integer.parseInt(ended.group(1));
            warned.incrementAndGet(port);
            last.set(port, message);
        } else if (!message.contains(": accepted despite a protocol violation: ")
                && !message.endsWith(": accepted a Logout Request without the I bit")
                && !message.contains(" connections have not logged in; ")
                && !message.endsWith(" suppressed")) {
            fail("a warning that is not of the end of a connection: " + message);
        }
    }

    /**
     * Expected lines: one for each command that the device with injected faults has failed, and for each of its
     * erasures.
     */
    private static boolean isOfFailingDevice(ILoggingEvent event, String message) {
        return event.getThrowableProxy() == null && message.endsWith(": injected fault");
    }

    private void fail(String what) {
        if (failure.isEmpty()) {
            failure = what;
        }
    }

    /** Throws if there was anything in the log that must not be. */
    void check() {
        if (!failure.isEmpty()) {
            throw new FuzzFailure("log: " + failure);
        }
    }

    /** Throws if some connection left more than one line; when all have ended. */
    void checkCounts() {
        check();
        for (int port = 0; port < PORTS; port++) {
            if (warned.get(port) > opened.get(port)) {
                throw new FuzzFailure(opened.get(port) + " connections of port " + port + " left "
                        + warned.get(port) + " lines in the log");
            }
        }
    }

    /** The last line about a connection of a port. */
    @Nullable
    String last(int port) { return last.get(port); }

    long warnings() { return warnings.get(); }

    @Override
    public void close() {
        root.detachAppender(this);
        root.setLevel(levelBefore);
        others.forEach(root::addAppender);
        Thread.setDefaultUncaughtExceptionHandler(before);
    }
}
