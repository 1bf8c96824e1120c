package lunar.testkit.pipe;

import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Polling;
import lunar.loop.EventSource;
import lunar.loop.EventSourceLoop;
import org.jspecify.annotations.Nullable;

/** Event source of a loop: its pipes with pending messages. */
final class PipeSource implements EventSource {
    private final BlockingQueue<Runnable> events = new LinkedBlockingQueue<>();
    private final Set<PipeTransport> pipes = ConcurrentHashMap.newKeySet();
    private final EventSourceLoop loop;

    private PipeSource(String name, Polling polling) {
        loop = new EventSourceLoop(name, this, polling);
    }

    static PipeSource start(String name, Polling polling) {
        var source = new PipeSource(name, polling);
        source.loop.start();
        return source;
    }

    /** Returns the source of a loop for pipes. */
    static PipeSource of(EventLoop loop) {
        return (PipeSource) ((EventSourceLoop) loop).source();
    }

    EventSourceLoop loop() { return loop; }

    void add(PipeTransport pipe) { pipes.add(pipe); }

    void remove(PipeTransport pipe) { pipes.remove(pipe); }

    /** Has a pipe deliver what it has. Any thread. */
    void ready(PipeTransport pipe) {
        events.add(pipe::deliver);
    }

    @Override
    public boolean poll() {
        // Only those pending now, so that deliveries that cause others do not starve tasks.
        int count = events.size();
        for (int left = count; left > 0; left--) {
            run(events.poll());
        }
        return count > 0;
    }

    @Override
    public void await(long limitMs) {
        try {
            run(limitMs == 0 ? events.take() : events.poll(limitMs, TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        boolean _ = poll();
    }

    private static void run(@Nullable Runnable event) {
        if (event != null) {
            event.run();
        }
    }

    @Override
    public void wakeup() { events.add(() -> {}); }

    @Override
    public int size() { return pipes.size(); }

    @Override
    public void close() { pipes.forEach(PipeTransport::endWithLoop); }
}
