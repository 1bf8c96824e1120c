package lunar.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import lunar.bench.compare.JvmLog.Pauses;
import org.junit.jupiter.api.Test;

class JvmLogTest {
    /** As JDK 25 writes it with generational Shenandoah. */
    private static final String LOG = """
            [1000ns] Using Shenandoah
            [2000ns] GC(0) Pause Init Mark (Young) (unload classes)
            [2100ns] GC(0) Pause Init Mark (Young) (unload classes) 0.125ms
            [2200ns] Safepoint "ShenandoahInitMark", Time since last: 5049 ns, Reaching safepoint: 39791 ns, \
            At safepoint: 125000 ns, Leaving safepoint: 6000 ns, Total: 170791 ns, Threads: 0 runnable, 15 total
            [2300ns] GC(0) Concurrent marking (Young) 3.250ms
            [3100ns] GC(0) Pause Final Mark (Young) 0.250ms
            [4000ns] Safepoint "ICBufferFull", Time since last: 9 ns, Reaching safepoint: 1000 ns, \
            At safepoint: 1000 ns, Leaving safepoint: 1 ns, Total: 2001 ns, Threads: 0 runnable, 15 total
            [9000ns] GC(1) Pause Full 25.000ms
            """;

    @Test
    void shouldFindPausesOfTheWindowOnly() {
        JvmLog log = JvmLog.parse(LOG, 2000, 9000);

        assertThat(log.collections()).isEqualTo(new Pauses(2, 0.25, 0.25));
        assertThat(log.safepoints()).isEqualTo(new Pauses(2, 0.170791, 0.170791));
        assertThat(JvmLog.parse(LOG, 9000, 9001).collections().maxMs()).isEqualTo(25);
    }

    @Test
    void shouldReportThatThereWasNoCommand() {
        assertThat(JvmLog.parse(LOG, 0, 10).collections()).hasToString("none");
    }

    @Test
    void shouldReportThePauseThatOneOfAThousandExceeds() {
        List<Double> pauses = IntStream.rangeClosed(1, 2000).mapToObj(i -> i / 1000.0).toList();

        assertThat(Pauses.of(pauses)).isEqualTo(new Pauses(2000, 1.998, 2.0));
    }
}
