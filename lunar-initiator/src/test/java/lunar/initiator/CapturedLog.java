package lunar.initiator;

import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the target logs, which goes through the platform's logger to java.util.logging. */
final class CapturedLog extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("lunar.initiator");
    private final List<String> lines = Collections.synchronizedList(new ArrayList<>());

    CapturedLog() {
        logger.addHandler(this);
        logger.setUseParentHandlers(false);
    }

    List<String> linesWith(String part) {
        synchronized (lines) {
            return lines.stream().filter(line -> line.contains(part)).toList();
        }
    }

    @Override
    public void publish(LogRecord line) {
        lines.add(MessageFormat.format(line.getMessage(), line.getParameters()));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
