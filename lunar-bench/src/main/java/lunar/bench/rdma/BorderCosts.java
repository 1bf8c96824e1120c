package lunar.bench.rdma;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Spread;
import lunar.rdma.MemoryRegion;
import lunar.rdma.ProtectionDomain;

/**
 * Measures the cost of calls, accesses and copies between Java and native code, in nanoseconds per operation (tables
 * 2.2 to 2.5 of the Javia-I thesis). Each operation runs in a loop of its own, in rounds of about 20 ms after a
 * warm-up.
 */
public final class BorderCosts {
    /**
     * Cost of an operation.
     *
     * @param nanos nanoseconds per operation, over all rounds
     */
    public record Cost(String operation, Spread nanos) {}

    /** A loop over an operation. Its result keeps the compiler from eliminating the operation. */
    @FunctionalInterface
    private interface Loop {
        long run(int times) throws Throwable;
    }

    private static final long ROUND_NANOS = 20_000_000;
    private static final int WARM_UP_ROUNDS = 5;
    private static final int[] COPY_BYTES = {4, 1 << 10, 64 << 10, 1 << 20};
    private static final int[] REGISTER_BYTES = {4 << 10, 64 << 10, 1 << 20};

    private static final StructLayout STRUCT = MemoryLayout.structLayout(
            JAVA_LONG.withName("first"), JAVA_INT.withName("second"),
            MemoryLayout.paddingLayout(4));
    private static final VarHandle SECOND = STRUCT.varHandle(PathElement.groupElement("second"));
    private static final MethodHandle ABS = abs(false);
    private static final MethodHandle CRITICAL_ABS = abs(true);
    private static final MethodHandle SEARCH = search();

    private final int rounds;
    private final List<Cost> costs = new ArrayList<>();
    private long sink;

    private BorderCosts(int rounds) { this.rounds = rounds; }

    @SuppressWarnings("restricted")
    private static MethodHandle abs(boolean isCritical) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("labs"),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG),
                isCritical
                        ? new Linker.Option[]{Linker.Option.critical(false)}
                        : new Linker.Option[0]);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle search() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow("bsearch"),
                FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
    }

    /** Measures the operations that need no RDMA device. */
    public static List<Cost> measure(int rounds) throws BenchException {
        var costs = new BorderCosts(rounds);
        try (Arena arena = Arena.ofConfined()) {
            costs.calls(arena);
            costs.fields(arena);
            costs.copies(arena);
        }
        return costs.costs;
    }

    /** Measures the registration of memory with a device. */
    public static List<Cost> registration(ProtectionDomain domain, int rounds)
            throws BenchException {
        var costs = new BorderCosts(rounds);
        try (Arena arena = Arena.ofShared()) {
            for (int bytes : REGISTER_BYTES) {
                MemorySegment memory = arena.allocate(bytes, 4096).fill((byte) 1);
                costs.add("register and deregister " + bytes + " bytes with "
                        + domain.device().name(), times -> {
                            long sum = 0;
                            for (int i = 0; i < times; i++) {
                                try (MemoryRegion region = domain.register(memory, Set.of())) {
                                    sum += region.byteSize();
                                }
                            }
                            return sum;
                        });
            }
        }
        return costs.costs;
    }

    /** Comparison function that native code calls. */
    @FunctionalInterface
    private interface Comparison {
        @SuppressWarnings("UnusedMethod") // a method handle calls it
        int compare(MemorySegment left, MemorySegment right);
    }

    @SuppressWarnings("restricted")
    private void calls(Arena arena) throws BenchException {
        add("downcall", times -> {
            long sum = 0;
            for (int i = 0; i < times; i++) {
                sum += (long) ABS.invokeExact((long) i);
            }
            return sum;
        });
        add("downcall that stays in Java's thread state (critical)", times -> {
            long sum = 0;
            for (int i = 0; i < times; i++) {
                sum += (long) CRITICAL_ABS.invokeExact((long) i);
            }
            return sum;
        });
        Comparison equal = (_, _) -> 0; // the search ends at the first element
        MemorySegment compare;
        try {
            compare = Linker.nativeLinker().upcallStub(
                    MethodHandles.lookup().findVirtual(Comparison.class, "compare",
                            MethodType.methodType(int.class, MemorySegment.class,
                                    MemorySegment.class))
                            .bindTo(equal),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), arena);
        } catch (ReflectiveOperationException e) {
            throw new BenchException("upcall: " + e, e);
        }
        MemorySegment element = arena.allocate(JAVA_LONG);
        add("downcall with one upcall", times -> {
            long sum = 0;
            for (int i = 0; i < times; i++) {
                sum += (long) SEARCH.invokeExact(element, element, 1L, 8L, compare);
            }
            return sum;
        });
    }

    private void fields(Arena arena) throws BenchException {
        MemorySegment structs = arena.allocate(STRUCT, 1024);
        var array = new int[1024];
        add("read of an int of an array", times -> {
            long sum = 0;
            for (int i = 0; i < times; i++) {
                sum += array[i * 7 & 1023];
            }
            return sum;
        });
        add("read of a field of a native struct", times -> {
            long sum = 0;
            for (int i = 0; i < times; i++) {
                sum += (int) SECOND.get(structs, (i * 7 & 1023) * STRUCT.byteSize());
            }
            return sum;
        });
        add("write of a field of a native struct", times -> {
            for (int i = 0; i < times; i++) {
                SECOND.set(structs, (i * 7 & 1023) * STRUCT.byteSize(), i);
            }
            return structs.get(JAVA_INT, 8);
        });
    }

    private void copies(Arena arena) throws BenchException {
        for (int bytes : COPY_BYTES) {
            var array = new byte[bytes];
            MemorySegment memory = arena.allocate(bytes, 4096);
            add("copy of " + bytes + " bytes from an array to native memory", times -> {
                for (int i = 0; i < times; i++) {
                    MemorySegment.copy(array, 0, memory, JAVA_BYTE, 0, bytes);
                }
                return memory.get(JAVA_BYTE, 0);
            });
            add("copy of " + bytes + " bytes from native memory to a new array", times -> {
                long sum = 0;
                for (int i = 0; i < times; i++) {
                    sum += memory.toArray(JAVA_BYTE).length;
                }
                return sum;
            });
        }
    }

    private void add(String operation, Loop loop) throws BenchException {
        var nanos = new ArrayList<Double>();
        try {
            int times = 1;
            for (long spent = 0; spent < ROUND_NANOS;) {
                times = times < 1 << 29 ? 2 * times : times;
                long start = System.nanoTime();
                sink += loop.run(times);
                spent = System.nanoTime() - start;
                if (times >= 1 << 29) {
                    break;
                }
            }
            for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
                long start = System.nanoTime();
                sink += loop.run(times);
                long spent = System.nanoTime() - start;
                if (round >= 0) {
                    nanos.add((double) spent / times);
                }
            }
        } catch (Throwable e) {
            throw new BenchException(operation + ": " + e, e);
        }
        costs.add(new Cost(operation, Spread.of(nanos)));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d costs, %x", costs.size(), sink);
    }
}
