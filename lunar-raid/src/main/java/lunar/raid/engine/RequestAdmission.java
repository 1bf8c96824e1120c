package lunar.raid.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.VolumeRequest;
import org.jspecify.annotations.Nullable;

/**
 * Admits the requests of a volume: up to a limit at once, none while the volume is paused, and none after it has been
 * drained. Requests that are not admitted wait, first come, first served. For any thread.
 */
final class RequestAdmission {
    /** Starts requests that are admitted. */
    interface Starter {
        /** @param free to be used again; null if there is none */
        void begin(@Nullable VolumeRequest free, BlockRequest request);

        /** Returns the failure of a request to a volume that takes no more. */
        StorageException gone(BlockRequest request);
    }

    /** Maximum number of requests in progress; more wait. */
    private static final int MAX_REQUESTS = 1024;

    private final Starter starter;
    /** Guarded by this, as are all fields below. */
    private final ArrayDeque<VolumeRequest> free = new ArrayDeque<>();
    private final ArrayDeque<BlockRequest> waiting = new ArrayDeque<>();
    private int inFlight;
    private boolean isDrained;
    private boolean isClosed;
    /** Called when nothing is in flight any more; null unless the volume is paused. */
    private @Nullable Runnable idle;

    RequestAdmission(Starter starter) { this.starter = starter; }

    /** Starts a request, now or later, or returns why it is refused. */
    @Nullable
    StorageException admit(BlockRequest request) {
        VolumeRequest volumeRequest;
        synchronized (this) {
            if (isDrained) {
                return starter.gone(request);
            }
            if (inFlight == MAX_REQUESTS || idle != null) {
                if (StripeEngine.isTooMany(waiting.size())) {
                    return StripeEngine.busy(request);
                }
                waiting.add(request);
                return null;
            }
            inFlight++;
            volumeRequest = free.poll();
        }
        starter.begin(volumeRequest, request);
        return null;
    }

    /** Called when a request has ended; starts the next one. */
    void ended(@Nullable VolumeRequest volumeRequest) {
        BlockRequest next;
        Runnable told = null;
        synchronized (this) {
            next = idle == null ? waiting.poll() : null;
            if (next == null) {
                if (volumeRequest != null) {
                    free.push(volumeRequest);
                }
                inFlight--;
                if (isDrained) {
                    notifyAll();
                }
                told = inFlight == 0 ? idle : null;
            }
        }
        if (next != null) {
            Trampoline.run(() -> starter.begin(volumeRequest, next));
        } else if (told != null) {
            told.run();
        }
    }

    /**
     * Makes requests wait until {@link #resume}.
     *
     * @param whenIdle called once, when the requests in flight have ended; possibly before this method returns
     * @throws IllegalStateException if the volume is paused already
     */
    void pause(Runnable whenIdle) {
        boolean isIdle;
        synchronized (this) {
            if (idle != null) {
                throw new IllegalStateException("the volume is paused");
            }
            idle = whenIdle;
            isIdle = inFlight == 0;
        }
        if (isIdle) {
            whenIdle.run();
        }
    }

    /**
     * Ends a pause.
     *
     * @param change changes the volume, before any request begins
     * @return the requests that have waited, to be submitted again
     */
    List<BlockRequest> resume(Runnable change) {
        synchronized (this) {
            if (idle == null || inFlight > 0) {
                throw new IllegalStateException("the volume is not paused");
            }
            idle = null;
            change.run();
            free.clear();
            var start = new ArrayList<>(waiting);
            waiting.clear();
            return start;
        }
    }

    /** Admits no more requests; those that wait still have their turn. */
    synchronized void drain() {
        isDrained = true;
    }

    /** Admits no more requests; returns those that wait, or null if this has been called before. */
    synchronized @Nullable List<BlockRequest> close() {
        if (isClosed) {
            return null;
        }
        isDrained = true;
        isClosed = true;
        var refused = new ArrayList<>(waiting);
        waiting.clear();
        return refused;
    }

    /** Waits for the end of the requests in progress. */
    synchronized void awaitIdle() throws InterruptedException {
        while (inFlight > 0) {
            wait();
        }
    }
}
