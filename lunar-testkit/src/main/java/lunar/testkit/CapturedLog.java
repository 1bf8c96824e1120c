package lunar.testkit;

import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Captures the records of a logger instead of printing them, until closed. {@link System.Logger} uses java.util.logging
 * if no other backend is on the path. Thread-safe.
 */
public final class CapturedLog implements AutoCloseable {
    private final Logger logger;
    private final Lines lines = new Lines();

    private static final class Lines extends Handler {
        private final List<String> all = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void publish(LogRecord line) {
            all.add(MessageFormat.format(line.getMessage(), line.getParameters()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** @param name of the logger, as {@code lunar.target} */
    public CapturedLog(String name) {
        logger = Logger.getLogger(name);
        logger.addHandler(lines);
        logger.setUseParentHandlers(false);
    }

    /** The lines so far that contain some text. */
    public List<String> linesWith(String part) {
        synchronized (lines.all) {
            return lines.all.stream().filter(line -> line.contains(part)).toList();
        }
    }

    @Override
    public void close() {
        logger.removeHandler(lines);
        logger.setUseParentHandlers(true);
    }
}
