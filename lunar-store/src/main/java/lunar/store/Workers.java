package lunar.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import org.jspecify.annotations.Nullable;

/**
 * Platform daemon threads that run a device's submitted requests, started when first needed. Every request ends
 * exactly once: by a worker, refused because too many wait, or by {@link #close} while it still waits. A monitor
 * guards all, since a lock of java.util.concurrent makes an object for each thread that waits.
 */
final class Workers implements AutoCloseable {
    /** Requests that may wait before submit refuses more with {@link BusyException}. */
    static final int MAX_WAITING = 4096;

    private static final System.Logger LOG = System.getLogger(Workers.class.getName());

    private final BlockDevice device;
    private final int maxThreads;
    private final Object lock = new Object();
    /** These four are guarded by the lock. */
    private final ArrayDeque<BlockRequest> waiting = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private int idle;
    private boolean closed;

    Workers(BlockDevice device, int maxThreads) {
        this.device = device;
        this.maxThreads = maxThreads;
    }

    void submit(BlockRequest request) {
        boolean gone;
        synchronized (lock) {
            gone = closed;
            if (!closed && waiting.size() < MAX_WAITING) {
                waiting.add(request);
                if (idle < waiting.size() && threads.size() < maxThreads) {
                    threads.add(Thread.ofPlatform().daemon()
                            .name("lunar " + device + " " + threads.size()).start(this::run));
                } else {
                    lock.notify();
                }
                return;
            }
        }
        request.fail(gone
                ? new DeviceGoneException(request + ": " + device + " is closed")
                : new BusyException(request + ": " + MAX_WAITING + " requests wait already"));
    }

    private void run() {
        for (BlockRequest request = next(); request != null; request = next()) {
            try {
                request.completeOn(device);
            } catch (RuntimeException | Error e) {
                completionFailed(e);
            }
        }
    }

    private void refuse(BlockRequest request) {
        try {
            request.fail(new DeviceGoneException(request + ": " + device + " is closed"));
        } catch (RuntimeException | Error e) {
            completionFailed(e);
        }
    }

    /** It must not throw; the other requests are not to suffer for it. */
    private void completionFailed(Throwable e) {
        LOG.log(System.Logger.Level.ERROR, "the completion of a request on " + device + " failed",
                e);
    }

    private @Nullable BlockRequest next() {
        synchronized (lock) {
            while (waiting.isEmpty() && !closed) {
                idle++;
                try {
                    lock.wait();
                } catch (InterruptedException _) {
                    // Somebody's completion interrupted us, which is of no meaning here.
                }
                idle--;
            }
            return waiting.poll();
        }
    }

    /** Fails what waits, and returns when what runs has ended. A worker that calls this does not wait for itself. */
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
            refuse(request);
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
