package lunar.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * Configures logging: standard error, one line per event; stack traces at debug level only, which {@code --verbose}
 * enables. In code rather than XML, because that starts faster.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
    private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{0}: %replace(%msg%cause){'\\s*[\\r\\n]+\\s*', '; '}%n%nopex";

    /** For the {@link java.util.ServiceLoader}. */
    public LogConfigurator() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        var layout = new PatternLayout();
        layout.getInstanceConverterMap().put("cause", CauseConverter::new);
        layout.setContext(context);
        layout.setPattern(PATTERN);
        layout.start();
        var encoder = new LayoutWrappingEncoder<ILoggingEvent>();
        encoder.setContext(context);
        encoder.setLayout(layout);
        encoder.start();
        var appender = new ConsoleAppender<ILoggingEvent>();
        appender.setContext(context);
        appender.setName("stderr");
        appender.setTarget("System.err");
        appender.setEncoder(encoder);
        appender.start();
        var root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.INFO);
        var limited = new FloodAppender(appender);
        limited.setContext(context);
        limited.start();
        root.addAppender(limited);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
