package lunar.initiator.multipath;

import org.jspecify.annotations.Nullable;

/** A pool of idle {@link MultipathRequest}s. Thread-safe. */
final class MultipathRequestPool {
    private @Nullable MultipathRequest top;

    @Nullable
    synchronized MultipathRequest take() {
        MultipathRequest taken = top;
        if (taken != null) {
            top = taken.next;
            taken.next = null;
        }
        return taken;
    }

    synchronized void give(MultipathRequest multipathRequest) {
        multipathRequest.next = top;
        top = multipathRequest;
    }
}
