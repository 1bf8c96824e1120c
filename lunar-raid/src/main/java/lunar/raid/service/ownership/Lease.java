package lunar.raid.service.ownership;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeadlineException;
import lunar.block.OwnershipLostException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/**
 * The right to use the members of a volume, which lasts for a time after it was confirmed. Requests that come after its
 * expiry wait until it is confirmed anew, or fail once it is lost for good. While it lasts a request costs a volatile
 * read and a read of the monotonic clock. For any thread.
 */
public final class Lease {
    private static final long MAX_WAIT_NS = TimeUnit.MINUTES.toNanos(2);

    private record Held(BlockRequest request, LeasedDevice device) {}

    private final long lengthNs;
    private final Runnable whenDoubtful;
    /** By {@link System#nanoTime}. */
    private volatile long untilNs = System.nanoTime();
    /** Guarded by this, as all below: why the lease is lost, and the time before which confirmations do not count. */
    private @Nullable StorageException lost;
    private long sinceNs = System.nanoTime();
    private final Deque<Held> held = new ArrayDeque<>();

    /** @param whenDoubtful called when requests wait for a confirmation; must neither block nor throw */
    Lease(long lengthNs, Runnable whenDoubtful) {
        this.lengthNs = lengthNs;
        this.whenDoubtful = whenDoubtful;
    }

    public boolean isValid() { return untilNs - System.nanoTime() > 0; }

    /** Confirms that the right was held at a moment. */
    void confirm(long atNs) {
        List<Held> go;
        synchronized (this) {
            if (lost != null || atNs - sinceNs < 0 || atNs + lengthNs - untilNs <= 0) {
                return;
            }
            untilNs = atNs + lengthNs;
            if (!isValid()) {
                return;
            }
            go = List.copyOf(held);
            held.clear();
            notifyAll();
        }
        go.forEach(one -> submit(one.request, one.device));
    }

    /** Notes that the lease may have been lost: only confirmations from now on count. */
    public void doubt() {
        synchronized (this) {
            sinceNs = System.nanoTime();
            untilNs = sinceNs;
        }
        whenDoubtful.run();
    }

    /** Notes that the lease is lost for good; returns false if it was already. */
    boolean lose(StorageException why) {
        List<Held> refused;
        synchronized (this) {
            if (lost != null) {
                return false;
            }
            lost = why;
            untilNs = System.nanoTime() - 1;
            refused = new ArrayList<>(held);
            held.clear();
            notifyAll();
        }
        refused.forEach(one -> RequestCompletion.fail(one.request, why));
        return true;
    }

    /** Returns why the lease is lost; null if it is not. */
    public synchronized @Nullable StorageException lost() {
        return lost;
    }

    /** Returns the failure for hosts once another process has the volume, whatever members report; else null. */
    @Nullable
    public StorageException takenOver() {
        return !isValid() && lost() instanceof OwnershipLostException why ? why : null;
    }

    /**
     * Returns the failure to report for a host's request. A reservation conflict on a member puts the lease in doubt;
     * until the owner of the volume is known, hosts are told to retry, and get the failure afterwards.
     */
    public StorageException answer(StorageException failure) {
        if (failure instanceof ReservationConflictException) {
            doubt();
        }
        StorageException why = takenOver();
        if (why != null) {
            return why;
        }
        boolean isOpen = lost() == null && !isValid() && isConflict(failure);
        return isOpen
                ? new BusyException("another host may have taken the volume: "
                        + failure.getMessage(), failure)
                : failure;
    }

    private static boolean isConflict(@Nullable Throwable failure) {
        Throwable at = failure;
        while (at != null && !(at instanceof ReservationConflictException)) {
            at = at.getCause();
        }
        return at != null;
    }

    /** Fails the waiting requests of a device that was closed. */
    void closed(LeasedDevice device) {
        var ended = new ArrayList<Held>();
        synchronized (this) {
            held.removeIf(one -> one.device.equals(device) && ended.add(one));
            notifyAll();
        }
        ended.forEach(one -> RequestCompletion.fail(one.request, device.gone(one.request)));
    }

    /** Submits a request as soon as the right is certain. */
    void submit(BlockRequest request, LeasedDevice device) {
        if (isValid()) {
            device.below().submit(request);
            return;
        }
        StorageException why;
        boolean isCertain;
        synchronized (this) {
            why = lost == null && device.isClosed() ? device.gone(request) : lost;
            isCertain = isValid();
            if (why == null && !isCertain) {
                held.add(new Held(request, device));
            }
        }
        if (why != null) {
            RequestCompletion.fail(request, why);
        } else if (isCertain) {
            device.below().submit(request);
        } else {
            whenDoubtful.run();
        }
    }

    /** Waits until the right is certain. */
    void await(BlockRequest what, LeasedDevice device) throws StorageException {
        if (isValid()) {
            return;
        }
        whenDoubtful.run();
        boolean isInterrupted = false;
        long giveUpNs = System.nanoTime() + MAX_WAIT_NS;
        synchronized (this) {
            while (lost == null && !isValid() && !device.isClosed()) {
                long leftMs = (giveUpNs - System.nanoTime()) / 1_000_000;
                if (leftMs <= 0) {
                    throw new DeadlineException(what
                            + ": the members do not confirm that the volume is this host's");
                }
                try {
                    wait(leftMs);
                } catch (InterruptedException _) { // as for any request: its end is bounded
                    isInterrupted = true;
                }
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
            StorageException why = lost;
            if (why != null) {
                throw why;
            }
            if (!isValid() && device.isClosed()) {
                throw device.gone(what);
            }
        }
    }
}
