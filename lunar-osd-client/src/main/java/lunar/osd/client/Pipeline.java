package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Commands of one user in flight, of which it awaits the results in the order in which it started them. For one thread
 * at a time.
 */
final class Pipeline {
    /** Serves to test whether other threads may access a buffer; never started. */
    private static final Thread OTHER = Thread.ofPlatform().unstarted(() -> {});

    private final OsdCalls calls;
    private final Deque<OsdCalls.Started> started = new ArrayDeque<>();

    Pipeline(OsdCalls calls) { this.calls = calls; }

    /** Whether a buffer may be in use while the thread that has it goes on. */
    static boolean isShared(MemorySegment buffer) {
        return buffer.isNative()
                ? buffer.isAccessibleBy(OTHER)
                : buffer.heapBase().map(byte[].class::isInstance).orElse(false);
    }

    boolean isFull() { return started.size() >= calls.options().depth(); }

    boolean isEmpty() { return started.isEmpty(); }

    /** Starts a command that gets no attributes. */
    void start(OsdCommand command) throws IOException {
        started.add(calls.start(command));
    }

    /** Waits for the first command; returns how much data it has read. */
    long await() throws IOException {
        return calls.await(started.remove()).value();
    }

    /** Waits until no buffer is in use any longer, whatever the results are. */
    void drain() {
        started.forEach(each -> {
            var _ = each.result().handle((_, _) -> true).join();
        });
        started.clear();
    }
}
