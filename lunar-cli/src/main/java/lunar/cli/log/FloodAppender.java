package lunar.cli.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.regex.Pattern;

/**
 * Limits floods of one warning, error, login or logout: of lines that differ in numbers only, ten a minute reach the
 * next appender, the last of them with a notice. The number of those that were suppressed is told with the next such
 * line after that minute, or with any other line once there were none for a minute. Thread-safe.
 */
final class FloodAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
    /** Kinds of lines that are known at a time, of warnings and of logins. */
    static final int MAX_KINDS = 512;

    private static final int LIMIT = 10;
    private static final long WINDOW_MS = 60_000;
    private static final int MAX_KEY_CHARS = 200;
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");
    /** The logger of logins and logouts, which any initiator with access can repeat as fast as it likes. */
    private static final String AUDIT = "lunar.audit";
    /** What differs between logins of an initiator: ISID, port, connection and times. Names may differ in digits. */
    private static final Pattern AUDIT_NUMBER = Pattern.compile("(?<=\\(ISID )[0-9a-f]+(?=\\))"
            + "|(?<= from [\\w.:%\\[\\]/-]{1,80}:)[0-9]+(?= |$)"
            + "|(?<=: connection )[0-9]+(?= from )|(?<= after )[0-9.]+(?= s: )");

    /** Lines that differ in numbers only. */
    private static final class Kind {
        private final ILoggingEvent first;
        private final long sinceMs;
        private long lastMs;
        private int lines;

        Kind(ILoggingEvent first) {
            this.first = first;
            this.sinceMs = first.getTimeStamp();
        }
    }

    /** Counts lines by their kinds; apart from others, so that many kinds of these do not displace those. */
    private final class Kinds {
        /** The kind with the latest line is the last. */
        private final LinkedHashMap<String, Kind> kinds = new LinkedHashMap<>(16, 0.75f, true);

        void append(String key, ILoggingEvent event) {
            Kind kind = kinds.computeIfAbsent(key, _ -> new Kind(event));
            if (event.getTimeStamp() - kind.sinceMs >= WINDOW_MS) {
                if (kind.lines > LIMIT) {
                    next.doAppend(notice(event, "suppressed " + (kind.lines - LIMIT)
                            + " lines like the following one"));
                }
                kind = new Kind(event);
                kinds.put(key, kind);
            }
            kind.lastMs = event.getTimeStamp();
            kind.lines++;
            if (kind.lines <= LIMIT) {
                next.doAppend(event);
            }
            if (kind.lines == LIMIT) {
                next.doAppend(notice(event, "further lines like this one are suppressed for "
                        + (kind.sinceMs + WINDOW_MS - event.getTimeStamp()) / 1000 + " s"));
            }
            if (kinds.size() > MAX_KINDS) {
                Iterator<Kind> all = kinds.values().iterator();
                Kind eldest = all.next();
                all.remove();
                tell(eldest);
            }
        }

        /** Forgets kinds without a line for a minute. */
        void expire(long nowMs) {
            Iterator<Kind> all = kinds.values().iterator();
            while (all.hasNext()) {
                Kind kind = all.next();
                if (nowMs - kind.lastMs < WINDOW_MS) {
                    return;
                }
                all.remove();
                tell(kind);
            }
        }

        private void tell(Kind kind) {
            if (kind.lines > LIMIT) {
                next.doAppend(notice(kind.first, "suppressed " + (kind.lines - LIMIT)
                        + " lines like this one: " + beginning(kind.first)));
            }
        }
    }

    private final Appender<ILoggingEvent> next;
    private final Kinds warnings = new Kinds();
    private final Kinds logins = new Kinds();

    FloodAppender(Appender<ILoggingEvent> next) { this.next = next; }

    @Override
    protected synchronized void append(ILoggingEvent event) {
        warnings.expire(event.getTimeStamp());
        logins.expire(event.getTimeStamp());
        if (event.getLoggerName().equals(AUDIT)) {
            // The whole line: names that initiators choose must not hide what comes after them.
            logins.append(AUDIT_NUMBER.matcher(event.getFormattedMessage()).replaceAll("#"),
                    event);
        } else if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
            warnings.append(
                    event.getLoggerName() + NUMBER.matcher(beginning(event)).replaceAll("#"),
                    event);
        } else {
            next.doAppend(event);
        }
    }

    private static String beginning(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        return message.substring(0, Math.min(message.length(), MAX_KEY_CHARS));
    }

    private ILoggingEvent notice(ILoggingEvent like, String message) {
        Logger logger = ((LoggerContext) getContext()).getLogger(like.getLoggerName());
        var notice = new LoggingEvent(FloodAppender.class.getName(), logger, like.getLevel(),
                message, null, null);
        notice.setTimeStamp(like.getTimeStamp());
        return notice;
    }

    @Override
    public void stop() {
        super.stop();
        next.stop();
    }
}
