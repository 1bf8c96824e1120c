package lunar.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Platform daemon threads that run a device's submitted requests, started when first needed. Every request completes
 * exactly once: by a worker, by rejection because too many wait or no thread can be started, or by {@link #close} while
 * it still waits. Guarded by a monitor, because locks of java.util.concurrent allocate an object per waiting thread.
 */
final class Workers implements AutoCloseable {
    /** Requests that may wait before submit refuses more with {@link BusyException}. */
    static final int MAX_WAITING = 4096;

    private static final System.Logger LOG = System.getLogger(Workers.class.getName());

    private final BlockDevice device;
    private final int maxThreads;
    private final ThreadFactory factory;
    private final Object lock = new Object();
    /** These four are guarded by the lock. */
    private final ArrayDeque<BlockRequest> waiting = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private int idle;
    private boolean closed;

    Workers(BlockDevice device, int maxThreads) {
        this(device, maxThreads,
                Thread.ofPlatform().daemon().name("lunar " + device + " ", 0).factory());
    }

    /** @param factory makes the threads, which are started here */
    Workers(BlockDevice device, int maxThreads, ThreadFactory factory) {
        this.device = device;
        this.maxThreads = maxThreads;
        this.factory = factory;
    }

    void submit(BlockRequest request) {
        StorageException refusal = enqueue(request);
        if (refusal != null) {
            RequestCompletion.completeGuarded(request, refusal); // its submitter may be a thread that others wait for
        }
    }

    /** Returns why the request was not taken; null if it was. */
    private @Nullable StorageException enqueue(BlockRequest request) {
        synchronized (lock) {
            if (closed) {
                return new DeviceGoneException(request + ": " + device + " is closed");
            }
            if (waiting.size() >= MAX_WAITING) {
                return new BusyException(
                        request + ": " + MAX_WAITING + " requests wait already");
            }
            if (idle <= waiting.size() && threads.size() < maxThreads) {
                try {
                    start();
                } catch (RuntimeException | Error e) { // OutOfMemoryError at the limit of threads
                    if (threads.isEmpty()) {
                        return new BusyException(
                                request + ": no thread can be started: " + e.getMessage(), e);
                    }
                }
            }
            waiting.add(request);
            lock.notify();
            return null;
        }
    }

    private void start() {
        Thread thread = factory.newThread(this::run);
        thread.start();
        threads.add(thread);
    }

    private void run() {
        for (BlockRequest request = next(); request != null; request = next()) {
            try {
                RequestCompletion.executeAndComplete(request, device);
            } catch (RuntimeException | Error e) {
                // A completion must not throw; the other requests are not to suffer for it.
                LOG.log(System.Logger.Level.ERROR, "the completion of a request on " + device
                        + " failed", e);
            }
        }
    }

    private @Nullable BlockRequest next() {
        synchronized (lock) {
            while (waiting.isEmpty() && !closed) {
                idle++;
                try {
                    lock.wait();
                } catch (InterruptedException _) {
                    // A completion interrupted this thread, which has no meaning here.
                }
                idle--;
            }
            return waiting.poll();
        }
    }

    /**
     * Fails waiting requests, and returns when running ones have completed. A worker that calls this does not wait for
     * itself.
     */
    @Override
    public void close() {
        List<BlockRequest> rest;
        List<Thread> running;
        synchronized (lock) {
            closed = true;
            rest = List.copyOf(waiting);
            waiting.clear();
            running = List.copyOf(threads);
            lock.notifyAll();
        }
        for (BlockRequest request : rest) {
            RequestCompletion.completeGuarded(request,
                    new DeviceGoneException(request + ": " + device + " is closed"));
        }
        for (Thread thread : running) {
            if (!thread.equals(Thread.currentThread())) {
                awaitEnd(thread);
            }
        }
    }

    /** An interrupt waits until the thread has ended. */
    static void awaitEnd(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
