package lunar.cli.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;

/** Writes the level of an event as a priority of syslog, for journald, which reads it before a line (sd-daemon(3)). */
public final class PriorityConverter extends ClassicConverter {
    static final int ERROR = 3;
    static final int WARNING = 4;
    private static final int INFO = 6;
    private static final int DEBUG = 7;

    /** Called by Logback. */
    public PriorityConverter() {}

    @Override
    public String convert(ILoggingEvent event) { return Integer.toString(of(event.getLevel())); }

    static int of(Level level) {
        return switch (level.toInt()) {
            case Level.ERROR_INT -> ERROR;
            case Level.WARN_INT -> WARNING;
            case Level.INFO_INT -> INFO;
            default -> DEBUG;
        };
    }
}
