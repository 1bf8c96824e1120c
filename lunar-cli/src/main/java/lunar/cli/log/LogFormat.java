package lunar.cli.log;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Layout;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Form of the lines of the log. */
public enum LogFormat {
    /** For people: time, level, logger and message; with the date except on a terminal. */
    TEXT,
    /** For programs: each line is a JSON object. */
    JSON;

    private static final String MESSAGE = "%-5level %logger{0}: %replace(%msg%cause){'\\s*[\\r\\n]+\\s*', '; '}%n%nopex";

    /** Returns the layout of a stream. */
    Layout<ILoggingEvent> layout(StandardError stream) {
        if (this == JSON) {
            return new JsonLayout(stream);
        }
        var layout = new PatternLayout();
        layout.getInstanceConverterMap().put("cause", CauseConverter::new);
        layout.getInstanceConverterMap().put("priority", PriorityConverter::new);
        layout.setPattern(switch (stream) {
            case TERMINAL -> "%d{HH:mm:ss.SSS} ";
            case JOURNAL -> "<%priority>";
            case FILE -> "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} ";
        } + MESSAGE);
        return layout;
    }

    /** Converts options of this type. */
    static final class Converter implements ITypeConverter<LogFormat> {
        @Override
        public LogFormat convert(String value) {
            for (LogFormat format : values()) {
                if (format.name().toLowerCase(Locale.ROOT).equals(value)) {
                    return format;
                }
            }
            throw new TypeConversionException("'" + value + "' is not one of text, json");
        }
    }
}
