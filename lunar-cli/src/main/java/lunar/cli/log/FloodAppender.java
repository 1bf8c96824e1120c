package lunar.cli.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Limits floods of one warning, error, login or logout: of lines that differ in numbers only, ten a minute reach the
 * next appender, the last of them with a notice; a later line is preceded by the number of those that were suppressed.
 * Thread-safe.
 */
final class FloodAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
    private static final int LIMIT = 10;
    private static final long WINDOW_MS = 60_000;
    private static final int MAX_KINDS = 512;
    private static final int MAX_KEY_CHARS = 200;
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");
    /** The logger of logins and logouts, which any initiator with access can repeat as fast as it likes. */
    private static final String AUDIT = "lunar.audit";
    /** Numbers that differ between logins of an initiator: its port and times. Names may differ in digits alone. */
    private static final Pattern AUDIT_NUMBER = Pattern
            .compile("(?<= from [0-9a-fA-F:.%]{1,60}:)[0-9]+|(?<= after )[0-9.]+");

    private static final class Kind {
        private final long sinceMs;
        private int lines;

        Kind(long sinceMs) { this.sinceMs = sinceMs; }
    }

    private final Appender<ILoggingEvent> next;
    private final Map<String, Kind> kinds = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Kind> eldest) {
            return size() > MAX_KINDS;
        }
    };

    FloodAppender(Appender<ILoggingEvent> next) { this.next = next; }

    @Override
    protected synchronized void append(ILoggingEvent event) {
        if (!event.getLevel().isGreaterOrEqual(Level.WARN)
                && !event.getLoggerName().equals(AUDIT)) {
            next.doAppend(event);
            return;
        }
        String key = key(event);
        Kind kind = kinds.computeIfAbsent(key, _ -> new Kind(event.getTimeStamp()));
        if (event.getTimeStamp() - kind.sinceMs >= WINDOW_MS) {
            if (kind.lines > LIMIT) {
                next.doAppend(notice(event, "suppressed " + (kind.lines - LIMIT)
                        + " lines like the following one"));
            }
            kind = new Kind(event.getTimeStamp());
            kinds.put(key, kind);
        }
        kind.lines++;
        if (kind.lines <= LIMIT) {
            next.doAppend(event);
        }
        if (kind.lines == LIMIT) {
            next.doAppend(notice(event, "further lines like this one are suppressed for "
                    + (kind.sinceMs + WINDOW_MS - event.getTimeStamp()) / 1000 + " s"));
        }
    }

    private static String key(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        Pattern number = event.getLoggerName().equals(AUDIT) ? AUDIT_NUMBER : NUMBER;
        return event.getLoggerName() + number.matcher(
                message.substring(0, Math.min(message.length(), MAX_KEY_CHARS))).replaceAll("#");
    }

    private ILoggingEvent notice(ILoggingEvent like, String message) {
        Logger logger = ((LoggerContext) getContext()).getLogger(like.getLoggerName());
        var notice = new LoggingEvent(FloodAppender.class.getName(), logger, like.getLevel(),
                message, null, null);
        notice.setTimeStamp(like.getTimeStamp());
        return notice;
    }
}
