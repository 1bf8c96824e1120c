package lunar.cli.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.LayoutBase;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes events as JSON objects, one a line: time (ISO 8601, UTC), level, logger, message, and the exception. For
 * journald, which takes it off, the priority precedes the object.
 */
final class JsonLayout extends LayoutBase<ILoggingEvent> {
    private final StandardError stream;

    JsonLayout(StandardError stream) { this.stream = stream; }

    @Override
    public String doLayout(ILoggingEvent event) {
        var line = new LinkedHashMap<String, Object>();
        line.put("time", Instant.ofEpochMilli(event.getTimeStamp()).toString());
        line.put("level", event.getLevel().toString().toLowerCase(Locale.ROOT));
        line.put("logger", event.getLoggerName());
        line.put("message", event.getFormattedMessage());
        IThrowableProxy cause = event.getThrowableProxy();
        if (cause != null) {
            line.put("exception", cause.getClassName()
                    + (cause.getMessage() == null ? "" : ": " + cause.getMessage()));
        }
        return stream.prefix(PriorityConverter.of(event.getLevel()))
                + JsonMapper.shared().writeValueAsString(line) + System.lineSeparator();
    }
}
