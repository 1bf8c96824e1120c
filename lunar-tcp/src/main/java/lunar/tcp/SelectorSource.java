package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import lunar.iscsi.spi.Polling;
import lunar.loop.EventSource;
import lunar.loop.EventSourceLoop;

/**
 * Event source of a loop based on a selector. The attachment of each key is a {@link Ready}, which is called when its
 * channel is ready. Confined to the thread that runs the loop, except {@link #wakeup} and {@link #letGo}.
 */
final class SelectorSource implements EventSource {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    /**
     * Bytes read at once. Larger data segments are then read straight to their destination; measured choice
     * of 16 requests of 4 KiB per read.
     */
    private static final int STAGING_BYTES = 64 * 1024 + 4096;
    private static final long LET_GO_MS = 2000;

    /** The attachment of a selection key: called when its channel is ready. */
    @FunctionalInterface
    interface Ready {
        void run();

        /** Called before the channel is closed because its loop ends. */
        default void endWithLoop() {}
    }

    private final Selector selector = Selector.open();
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, 64);
    private final ByteBuffer stagingBuffer = staging.asByteBuffer();
    private final Consumer<SelectionKey> ready = SelectorSource::ready;
    /** Tasks to run after the next selection; confined to the loop's thread. */
    private final Set<Runnable> held = new LinkedHashSet<>();
    private final EventSourceLoop loop;

    private SelectorSource(String name, Polling polling) throws IOException {
        loop = new EventSourceLoop(name, this, polling);
    }

    /** Starts a loop over a new selector. */
    static SelectorSource start(String name, Polling polling) throws IOException {
        var source = new SelectorSource(name, polling);
        source.loop.start();
        return source;
    }

    EventSourceLoop loop() { return loop; }

    Selector selector() { return selector; }

    /** Read buffer shared by the loop's connections; free between two turns of a connection. */
    MemorySegment staging() {
        return staging;
    }

    ByteBuffer stagingBuffer() { return stagingBuffer; }

    /**
     * Runs a task once after the events of all connections have been handled: for a connection with input that the
     * selector does not report. On the loop's thread.
     */
    void hold(Runnable task) { held.add(task); }

    @Override
    public boolean poll() throws IOException {
        boolean isHolding = !held.isEmpty();
        boolean found = selector.selectNow(ready) > 0;
        if (isHolding) {
            runHeld();
        }
        return found || isHolding;
    }

    @Override
    public void await(long limitMs) throws IOException {
        if (held.isEmpty()) {
            selector.select(ready, limitMs);
        } else {
            boolean _ = poll();
        }
    }

    private void runHeld() {
        List<Runnable> now = List.copyOf(held);
        held.clear();
        now.forEach(Runnable::run);
    }

    @Override
    public void wakeup() { selector.wakeup(); }

    @Override
    public int size() { return selector.keys().size(); }

    private static void ready(SelectionKey key) {
        if (key.attachment() instanceof Ready ready) {
            ready.run();
        }
    }

    /**
     * Makes the selector release closed channels, so that the kernel closes them too; waits for that, unless the caller
     * is the loop's own thread.
     */
    void letGo() {
        var done = new CompletableFuture<Void>();
        try {
            loop.execute(() -> {
                try {
                    poll();
                } catch (IOException | RuntimeException e) {
                    LOG.log(System.Logger.Level.DEBUG, "select: {0}", e.toString());
                }
                done.complete(null);
            });
            if (!loop.inLoop()) {
                done.get(LET_GO_MS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RejectedExecutionException | ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "releasing closed channels failed: {0}",
                    e.toString());
        }
    }

    @Override
    public void close() {
        for (SelectionKey key : new ArrayList<>(selector.keys())) {
            try {
                if (key.attachment() instanceof Ready ready) {
                    ready.endWithLoop();
                }
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.ERROR, "ending a connection failed", e);
            }
            closeQuietly(key.channel());
        }
        closeQuietly(selector);
    }

    /** Closes what cannot be used any longer; its failure to close is logged for debugging only. */
    static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOG.log(System.Logger.Level.DEBUG, "close: {0}", e.toString());
        }
    }
}
