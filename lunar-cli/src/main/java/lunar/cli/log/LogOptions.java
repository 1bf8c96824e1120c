package lunar.cli.log;

import ch.qos.logback.classic.Level;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options of commands that run as a service: what they log, and in which form. */
public final class LogOptions {
    @Option(names = "--log-level", paramLabel = "LEVEL", converter = LevelConverter.class,
            description = "What to log: error, warn, info, debug or trace and what is graver."
                    + " Default: info.")
    private @Nullable Level level;

    @Option(names = "--log-format", paramLabel = "text|json", converter = LogFormat.Converter.class,
            description = "Form of the log: text, or a JSON object in each line. Default: text, with the"
                    + " priority for journald where systemd reads it.")
    private @Nullable LogFormat format;

    /** Applies those that are given; from now on, nobody waits for the reader of the log. */
    public void apply() {
        if (level != null) {
            LogConfigurator.root().setLevel(level);
        }
        LogConfigurator.serve(format == null ? LogFormat.TEXT : format);
    }

    /** Converts names of levels. */
    static final class LevelConverter implements ITypeConverter<Level> {
        private static final List<Level> LEVELS = List.of(Level.ERROR, Level.WARN, Level.INFO,
                Level.DEBUG, Level.TRACE);

        @Override
        public Level convert(String value) {
            return LEVELS.stream()
                    .filter(level -> level.toString().toLowerCase(Locale.ROOT).equals(value))
                    .findFirst().orElseThrow(() -> new TypeConversionException("'" + value
                            + "' is not one of error, warn, info, debug, trace"));
        }
    }
}
