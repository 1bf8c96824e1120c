package lunar.tcp;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLEngine;

/**
 * Creates the TLS layers of a group of loops. What takes long in a handshake (key agreement, signing, verifying
 * certificates) runs on a few threads of its own, so that a flood of handshakes delays other handshakes, but no
 * session. The threads end when they are idle. Thread-safe.
 */
final class TlsSetup implements AutoCloseable {
    /** Processors for each thread that computes. */
    private static final int PART_OF_PROCESSORS = 4;
    private static final int MAX_THREADS = 4;

    /** Handshakes that wait for a thread; more than a server has connections without a login. */
    private static final int MAX_WAITING = 4096;
    private static final long IDLE_SECONDS = 10;

    private final TlsBuffers buffers = new TlsBuffers();
    private final ThreadPoolExecutor computations;

    /** @param name begins the names of the threads */
    TlsSetup(String name) {
        int threads = Math.clamp(
                Runtime.getRuntime().availableProcessors() / PART_OF_PROCESSORS, 1, MAX_THREADS);
        var number = new AtomicInteger();
        computations = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_WAITING),
                task -> Thread.ofPlatform().daemon()
                        .name(name + "-tls-" + number.getAndIncrement()).unstarted(task));
        computations.allowCoreThreadTimeOut(true);
    }

    /** Creates the layer of a connection, which the caller ends. */
    TlsLayer layer(SocketChannel channel, SSLEngine engine) throws IOException {
        return new TlsLayer(channel, engine, buffers, computations);
    }

    /** For tests: buffers that connections hold. */
    int buffersInUse() { return buffers.inUse(); }

    /** Ends the threads. Called after the loops have ended. */
    @Override
    public void close() { computations.shutdown(); }
}
