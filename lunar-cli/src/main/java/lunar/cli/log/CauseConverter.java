package lunar.cli.log;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;

/** Appends the exception of an event to its message: type and message, without the stack trace. */
final class CauseConverter extends ClassicConverter {
    @Override
    public String convert(ILoggingEvent event) {
        IThrowableProxy cause = event.getThrowableProxy();
        if (cause == null) {
            return "";
        }
        String type = cause.getClassName().replaceFirst(".*[.]", "");
        return ": " + (cause.getMessage() == null ? type : type + ": " + cause.getMessage());
    }
}
