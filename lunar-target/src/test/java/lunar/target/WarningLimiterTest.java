package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import lunar.target.internal.session.Origin;
import lunar.target.internal.session.WarningLimiter;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;

/** Tests that a flood of bad connections logs a bounded number of lines. */
class WarningLimiterTest {
    private static final int FLOOD = 5_000;

    private final AtomicLong nowNanos = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final List<String> lines = new ArrayList<>();
    private final WarningLimiter limiter = new WarningLimiter(nowNanos::get, lines::add);

    private static Origin origin(int number) throws IOException {
        return Origin.of(InetAddress.getByAddress(
                new byte[]{10, (byte) (number >> 16), (byte) (number >> 8), (byte) number}));
    }

    private void flood(int number) throws IOException {
        for (int i = 0; i < FLOOD; i++) {
            limiter.warn(origin(number), "bad");
        }
    }

    @Test
    void shouldSuppressWhatIsBeyondTheLimitAndCountIt() throws Exception {
        flood(1);
        limiter.warn(origin(2), "another");
        assertThat(lines).hasSize(WarningLimiter.MOST + 1).last().isEqualTo("another");
        nowNanos.addAndGet(WarningLimiter.INTERVAL_NANOS);
        lines.clear();
        limiter.warn(origin(1), "again");
        assertThat(lines).containsExactly(FLOOD - WarningLimiter.MOST
                + " more warnings about connections from 10.0.0.1 suppressed", "again");
    }

    @Test
    void shouldReportSuppressedCountWithTheNextWarningOfAnyOrigin() throws Exception {
        flood(1);
        nowNanos.addAndGet(WarningLimiter.INTERVAL_NANOS);
        lines.clear();
        limiter.warn(origin(2), "another");
        limiter.warn(origin(2), "another");
        assertThat(lines).hasSize(3).first().asString().contains("from 10.0.0.1 suppressed");
    }

    @Test
    void shouldBoundLinesOfAFloodFromManyAddresses() throws Exception {
        for (int i = 0; i < 3 * WarningLimiter.MOST_ORIGINS; i++) {
            limiter.warn(origin(i), "bad");
        }
        assertThat(lines).hasSize(WarningLimiter.MOST_ORIGINS + WarningLimiter.MOST);
        nowNanos.addAndGet(WarningLimiter.INTERVAL_NANOS);
        lines.clear();
        limiter.warn(origin(0), "again");
        assertThat(lines).containsExactly(2 * WarningLimiter.MOST_ORIGINS - WarningLimiter.MOST
                + " more warnings about connections from other addresses suppressed", "again");
    }

    @Test
    void shouldLimitLinesOfConnectionsThatSendGarbage() throws Exception {
        long begun = System.nanoTime();
        try (var target = new TargetFixture(); var log = new CapturedLog("lunar.target")) {
            for (int i = 0; i < 3 * WarningLimiter.MOST; i++) {
                try (var bad = new RawInitiator(target.server)) {
                    bad.sendBytes(new byte[48]);
                    assertThat(bad.isClosedByTarget()).isTrue();
                }
            }
            TargetFixture.await("the end of all", () -> target.server.connectionCount() == 0);
            long intervals = 1 + (System.nanoTime() - begun) / WarningLimiter.INTERVAL_NANOS;
            assertThat(log.linesWith("connection from 127.0.0.1:")).hasSizeBetween(
                    WarningLimiter.MOST, (int) intervals * WarningLimiter.MOST);
        }
    }
}
