package lunar.cli.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.Layout;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Configures logging: standard error, one line per event, without stack traces. In code rather than XML, because that
 * starts faster.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
    private static final String NAME = "log";
    /** The one in use, if there is one. */
    private static final AtomicReference<@Nullable BackgroundAppender> BACKGROUND = new AtomicReference<>();

    /** For the {@link java.util.ServiceLoader}. */
    public LogConfigurator() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
        context.getLogger("io.helidon").setLevel(Level.WARN); // the web server of the admin API
        write(context, appender(context, LogFormat.TEXT, StandardError.now()));
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Returns the root logger, after the log has been configured. */
    public static Logger root() {
        return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    }

    /** Writes the log in a form from now on, without making those who log wait for its reader. */
    static void serve(LogFormat format) {
        LoggerContext context = root().getLoggerContext();
        var background = new BackgroundAppender(
                appender(context, format, StandardError.now()));
        background.setContext(context);
        background.start();
        write(context, background);
        if (BACKGROUND.getAndSet(background) == null) {
            Runtime.getRuntime().addShutdownHook(
                    new Thread(LogConfigurator::flush, "lunar-log-flush"));
        }
    }

    /** Waits until what was logged is written, but at most a second. */
    public static void flush() {
        BackgroundAppender background = BACKGROUND.get();
        if (background != null) {
            background.flush();
        }
    }

    private static Appender<ILoggingEvent> appender(LoggerContext context, LogFormat format,
            StandardError stream) {
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
        return appender;
    }

    /** Replaces the appender of the log. */
    private static void write(LoggerContext context, Appender<ILoggingEvent> appender) {
        var limited = new FloodAppender(appender);
        limited.setContext(context);
        limited.setName(NAME);
        limited.start();
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        Appender<ILoggingEvent> before = root.getAppender(NAME);
        root.addAppender(limited);
        if (before != null) {
            root.detachAppender(before);
            before.stop();
        }
    }
}
