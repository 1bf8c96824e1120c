package lunar.initiator.multipath;

import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.initiator.UnflushedWrites;
import org.jspecify.annotations.Nullable;

/** Executes the requests of a {@link MultipathUnit}, and counts those in flight. Thread-safe. */
final class MultipathRequests {
    private final MultipathUnit unit;
    private final UsablePaths paths;
    private final HeldWrites held;
    private final UnflushedWrites writes;
    private final MultipathOptions options;
    private final String name;
    private final MultipathRequestPool pool = new MultipathRequestPool();
    private final RequestGate gate = new RequestGate();

    /** @param name name of the unit, for messages */
    MultipathRequests(String name, MultipathUnit unit, MultipathOptions options) {
        this.name = name;
        this.unit = unit;
        this.options = options;
        paths = unit.paths();
        held = unit.heldWrites();
        writes = unit.writes();
    }

    UsablePaths paths() { return paths; }

    HeldWrites held() { return held; }

    UnflushedWrites writes() { return writes; }

    MultipathOptions options() { return options; }

    /** Removes a path that is not to be used. */
    void withdraw(PathAgent path) {
        unit.withdraw(path);
    }

    /** Counts a call that uses a path; {@link #leave} must follow. */
    void enter() throws DeviceGoneException {
        if (!gate.enter()) {
            throw closedFailure();
        }
    }

    void leave() { gate.leave(); }

    /** Begins a request that has entered; its end leaves. */
    void submit(BlockRequest request) {
        take().with(request, null).resume();
    }

    /** Performs a request on the calling thread. */
    void execute(BlockRequest request) throws StorageException {
        MultipathRequest multipathRequest = take().with(request, Thread.currentThread());
        StorageException failure;
        try {
            failure = multipathRequest.perform();
        } finally {
            give(multipathRequest);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private MultipathRequest take() {
        MultipathRequest idle = pool.take();
        return idle == null ? new MultipathRequest(this) : idle;
    }

    private void give(MultipathRequest multipathRequest) {
        multipathRequest.clear();
        pool.give(multipathRequest);
    }

    /** Completes a submitted request. */
    void end(MultipathRequest multipathRequest, @Nullable StorageException failure) {
        BlockRequest request = multipathRequest.asked();
        give(multipathRequest);
        end(request, failure);
    }

    /** Completes a request that has entered. */
    void end(BlockRequest request, @Nullable StorageException failure) {
        try {
            RequestCompletion.complete(request, failure);
        } finally {
            gate.leave();
        }
    }

    DeviceGoneException closedFailure() { return new DeviceGoneException(name + " is closed"); }

    /** Refuses further requests, fails those that wait, and waits for the others. Returns whether interrupted. */
    boolean close() {
        gate.close();
        WaitingRequest.forEach(paths.close(), request -> request.fail(closedFailure()));
        held.close();
        return gate.awaitNone();
    }
}
