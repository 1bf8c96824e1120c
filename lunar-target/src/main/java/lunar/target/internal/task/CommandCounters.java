package lunar.target.internal.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.target.status.CommandCounts;
import lunar.target.status.Latencies;
import org.jspecify.annotations.Nullable;

/**
 * Counts the commands of one session at one unit. Written by the thread of the session's event loop alone, so that a
 * count is a plain addition and an ordered store; any thread may read. A snapshot is not atomic: commands that end
 * meanwhile may be in some of its counts only.
 */
final class CommandCounters {
    private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);

    /** Kinds of commands, each with a histogram. */
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final int OTHER = 2;
    private static final int KINDS = 3;

    private static final int BEGUN = 0;
    private static final int ENDED = 1;
    private static final int ABORTED = 2;
    private static final int BUSY = 3;
    private static final int CONFLICTS = 4;
    private static final int READ_BYTES = 5;
    private static final int WRITTEN_BYTES = 6;
    private static final int DELAYED = 7;
    private static final int SENSE = 8;
    private static final int NANOS = SENSE + SenseKey.values().length;
    private static final int BUCKETS = NANOS + KINDS;
    private static final int SIZE = BUCKETS + KINDS * Latencies.BUCKETS;

    private static final long[] BOUNDS = Latencies.BOUNDS_NANOS.stream()
            .mapToLong(Long::longValue).toArray();
    /** The bucket of the least duration with as many leading zeros. */
    private static final int[] FIRST = first();

    private final long[] values = new long[SIZE];

    private static int[] first() {
        var first = new int[Long.SIZE + 1];
        for (int zeros = 0; zeros <= Long.SIZE; zeros++) {
            long least = zeros == Long.SIZE ? 0 : 1L << (Long.SIZE - 1 - zeros);
            int bucket = 0;
            while (bucket < BOUNDS.length && zeros > 0 && least > BOUNDS[bucket]) {
                bucket++;
            }
            first[zeros] = bucket;
        }
        return first;
    }

    /** Returns the bucket of a duration. */
    static int bucket(long nanos) {
        int bucket = FIRST[Long.numberOfLeadingZeros(nanos)];
        while (bucket < BOUNDS.length && nanos > BOUNDS[bucket]) { // at most twice
            bucket++;
        }
        return bucket;
    }

    private void add(int index, long count) {
        VALUES.setOpaque(values, index, values[index] + count);
    }

    /** Counts a command as ended, after all its other counts. */
    private void end() {
        VALUES.setRelease(values, ENDED, values[ENDED] + 1);
    }

    private long get(int index) { return (long) VALUES.getOpaque(values, index); }

    /** Counts a command that has arrived. */
    void begun() { add(BEGUN, 1); }

    /** Counts a command that was refused because the task set is full. */
    void refused() {
        add(BUSY, 1);
    }

    /** Counts a command that a limit delays. */
    void delayed() { add(DELAYED, 1); }

    /** Counts a command as ended that was dropped before its turn, or that its device has completed too late. */
    void gone() {
        end();
    }

    /** Counts a command as aborted. */
    void aborted() { add(ABORTED, 1); }

    /** Counts a command that has an outcome. */
    void ended(Task task, long nowNanos) {
        TaskOutcome outcome = task.outcome();
        switch (outcome.status()) {
            case GOOD -> {
                int kind = kind(task);
                long nanos = Math.max(0, nowNanos - task.beganNanos());
                add(NANOS + kind, nanos);
                add(BUCKETS + kind * Latencies.BUCKETS + bucket(nanos), 1);
                add(READ_BYTES, Math.min(outcome.dataInBytes(), task.expectedInBytes()));
                add(WRITTEN_BYTES, task.out().neededBytes());
            }
            case CHECK_CONDITION -> condition(outcome.sense());
            case BUSY, TASK_SET_FULL -> add(BUSY, 1);
            case RESERVATION_CONFLICT -> add(CONFLICTS, 1);
            default -> {
                // no device server here ends a command with another status
            }
        }
        end();
    }

    private void condition(@Nullable Sense sense) {
        SenseKey key = sense == null ? SenseKey.NO_SENSE : sense.key();
        add(SENSE + key.code(), 1);
    }

    private static int kind(Task task) {
        if (task.isPlain()) {
            return task.declaresDataOut() ? WRITE : READ;
        }
        return switch (task.opcode()) {
            case 0x08, 0x28, 0xa8, 0x88 -> READ; // READ(6), (10), (12), (16)
            case 0x0a, 0x2a, 0xaa, 0x8a, 0x2e, 0xae, 0x8e, 0x9c -> WRITE; // with VERIFY, ATOMIC
            default -> OTHER;
        };
    }

    /** Returns the counts. Any thread. */
    CommandCounts snapshot() {
        // First, and with acquire semantics, so that what is in flight is never negative.
        long ended = (long) VALUES.getAcquire(values, ENDED);
        long inFlight = get(BEGUN) - ended; // at once: commands come and go
        var conditions = new EnumMap<SenseKey, Long>(SenseKey.class);
        for (SenseKey key : SenseKey.values()) {
            long count = get(SENSE + key.code());
            if (count > 0) {
                conditions.put(key, count);
            }
        }
        return new CommandCounts(latencies(READ), latencies(WRITE), latencies(OTHER),
                get(READ_BYTES), get(WRITTEN_BYTES), conditions, get(CONFLICTS), get(BUSY),
                get(ABORTED), get(DELAYED), inFlight);
    }

    private Latencies latencies(int kind) {
        List<Long> counts = new ArrayList<>(Latencies.BUCKETS);
        for (int i = 0; i < Latencies.BUCKETS; i++) {
            counts.add(get(BUCKETS + kind * Latencies.BUCKETS + i));
        }
        return new Latencies(counts, get(NANOS + kind));
    }
}
