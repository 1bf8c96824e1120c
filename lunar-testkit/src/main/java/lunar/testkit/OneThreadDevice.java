package lunar.testkit;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Completes all submitted requests on one thread, like the event loop of an {@code iscsi:} device. That thread must not
 * wait for a request that only it could complete: a request executed on it fails and is recorded.
 */
public final class OneThreadDevice extends ForwardingDevice {
    private final LinkedBlockingQueue<BlockRequest> waiting = new LinkedBlockingQueue<>();
    private final BlockRequest last = new BlockRequest();
    private final Thread thread;
    /** Guards the order of submissions and close. */
    private final Object lock = new Object();
    private boolean closed;
    private volatile @Nullable String blocked;

    /** Over a device that does the work; closing this one closes it. */
    public OneThreadDevice(BlockDevice below) {
        super(below);
        thread = Thread.ofPlatform().daemon().name("one thread").start(this::run);
    }

    /** Returns the last request that would have blocked the thread; empty if there was none. */
    public Optional<String> blocked() {
        return Optional.ofNullable(blocked);
    }

    @Override
    public Set<Capability> capabilities() {
        var rest = EnumSet.copyOf(below().capabilities());
        rest.removeAll(Set.of(Capability.TRANSFER_TO, Capability.NON_BLOCKING));
        return Set.copyOf(rest);
    }

    private void run() {
        try {
            for (BlockRequest next = waiting.take(); next != last; next = waiting.take()) {
                StorageException failure = null;
                try {
                    below().execute(next);
                } catch (StorageException e) {
                    failure = e;
                }
                end(next, failure);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A completion must not throw; the thread outlives it. */
    private static void end(BlockRequest request, @Nullable StorageException failure) {
        try {
            RequestCompletion.complete(request, failure);
        } catch (RuntimeException e) {
            System.getLogger("lunar.testkit").log(System.Logger.Level.DEBUG, "a completion threw",
                    e);
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (Thread.currentThread().equals(thread)) {
            blocked = request.toString();
            throw new IllegalStateException(request + " would block the thread that ends it");
        }
        below().execute(request);
    }

    @Override
    public void submit(BlockRequest request) {
        synchronized (lock) {
            if (!closed) {
                waiting.add(request);
                return;
            }
        }
        RequestCompletion.fail(request, new DeviceGoneException(request + ": closed"));
    }

    /** Ends what was submitted before. */
    @Override
    public void close() throws StorageException {
        synchronized (lock) {
            if (!closed) {
                closed = true;
                waiting.add(last);
            }
        }
        boolean interrupted = false;
        while (thread.isAlive() && !Thread.currentThread().equals(thread)) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        super.close();
    }
}
