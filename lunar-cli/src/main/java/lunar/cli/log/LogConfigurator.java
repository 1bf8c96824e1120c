package lunar.cli.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.Layout;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import org.slf4j.LoggerFactory;

/**
 * Configures logging: standard error, one line per event, without stack traces. In code rather than XML, because that
 * starts faster.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
    private static final String NAME = "log";

    /** For the {@link java.util.ServiceLoader}. */
    public LogConfigurator() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
        write(context, LogFormat.TEXT, StandardError.now());
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Writes the log in a form from now on. */
    static void become(LogFormat format) {
        write((LoggerContext) LoggerFactory.getILoggerFactory(), format, StandardError.now());
    }

    private static void write(LoggerContext context, LogFormat format, StandardError stream) {
        Layout<ILoggingEvent> layout = format.layout(stream);
        layout.setContext(context);
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
        var limited = new FloodAppender(appender);
        limited.setContext(context);
        limited.setName(NAME);
        limited.start();
        var root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAppender(NAME);
        root.addAppender(limited);
    }
}
