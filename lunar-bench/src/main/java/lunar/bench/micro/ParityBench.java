package lunar.bench.micro;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lunar.raid.layout.Galois;
import lunar.raid.layout.Parity;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures the parity of four units of 64 KiB, in microseconds: 262 KB in 32.8 us is 8 GB/s. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ParityBench {
    private static final int UNITS = 4;
    private static final int UNIT_BYTES = 64 << 10;
    /** Factors that compute two lost units out of six: none that doubling would help. */
    private static final int[] FACTORS = {0xb7, 0x3a, 0x9d, 0x61};

    private final Parity parity = new Parity();
    private final MemorySegment[] units = new MemorySegment[UNITS];
    private final MemorySegment target = Arena.ofAuto().allocate(UNIT_BYTES, 4096);

    /** Units of anything. */
    public ParityBench() {
        var random = new Random(1);
        var content = new byte[UNIT_BYTES];
        for (int i = 0; i < UNITS; i++) {
            random.nextBytes(content);
            units[i] = Arena.ofAuto().allocate(UNIT_BYTES, 4096)
                    .copyFrom(MemorySegment.ofArray(content));
        }
    }

    @Benchmark
    public MemorySegment p() {
        parity.clear();
        for (MemorySegment unit : units) {
            parity.add(unit, 1);
        }
        parity.into(target);
        return target;
    }

    @Benchmark
    public MemorySegment q() {
        parity.clear();
        for (int i = 0; i < UNITS; i++) {
            parity.add(units[i], Galois.power(i));
        }
        parity.into(target);
        return target;
    }

    @Benchmark
    public MemorySegment recovery() {
        parity.clear();
        for (int i = 0; i < UNITS; i++) {
            parity.add(units[i], FACTORS[i]);
        }
        parity.into(target);
        return target;
    }
}
