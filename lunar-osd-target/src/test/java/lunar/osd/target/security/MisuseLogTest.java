package lunar.osd.target.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreatePartitionCommand;
import org.junit.jupiter.api.Test;

/** Refused commands are logged, but hostile peers cannot fill the log. */
class MisuseLogTest {
    /** The logger with this handler must not be collected meanwhile. */
    private static final Logger LOGGER = Logger.getLogger("lunar.osd.target");

    private static final class Lines extends Handler {
        private final List<String> lines = new ArrayList<>();

        @Override
        public void publish(LogRecord entry) { lines.add(entry.getMessage()); }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void shouldLogOneLineInAWhile() {
        var lines = new Lines();
        LOGGER.addHandler(lines);
        try {
            var now = new AtomicLong(1_000_000);
            var log = new MisuseLog("object store x", now::get);
            var command = new CreatePartitionCommand(CommonFields.of(OsdVersion.OSD_2), 0x10000, 0);
            for (int i = 0; i < 5; i++) {
                log.refused(command, "host1", "the nonce was used before");
            }
            now.addAndGet(MisuseLog.QUIET_MS);
            log.refused(command, "host1", "the capability has expired");
        } finally {
            LOGGER.removeHandler(lines);
        }
        assertThat(lines.lines).containsExactly(
                "object store x: refused CREATE PARTITION of 10000h/0h by host1: the nonce was used"
                        + " before",
                "object store x: refused CREATE PARTITION of 10000h/0h by host1: the capability has"
                        + " expired (4 more commands were refused)");
    }
}
