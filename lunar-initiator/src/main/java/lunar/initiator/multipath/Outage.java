package lunar.initiator.multipath;

import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;

/** Tracks and reports outages, in which no path can be used. Called under the lock of the paths. */
final class Outage {
    private enum State {
        NONE, HELD, FAILING
    }

    private final BlockDevice unit;
    private final EventDispatcher dispatcher;
    private State state = State.NONE;
    private long begunNanos;

    Outage(BlockDevice unit, EventDispatcher dispatcher) {
        this.unit = unit;
        this.dispatcher = dispatcher;
    }

    /** Records that a request waits. */
    void held() {
        if (begin(State.HELD)) {
            dispatcher.tell(listener -> listener.held(unit));
        }
    }

    /** Records that a request fails because no path is up. */
    void gaveUp(DeviceGoneException why) {
        if (begin(State.FAILING)) {
            dispatcher.tell(listener -> listener.gaveUp(unit, why));
        }
    }

    /** Enters a state if it is worse than the present one, and returns whether it is. */
    private boolean begin(State now) {
        if (now.compareTo(state) <= 0) {
            return false;
        }
        if (state == State.NONE) {
            begunNanos = System.nanoTime();
        }
        state = now;
        return true;
    }

    /** Records that a path can be used. */
    void over() {
        if (state != State.NONE) {
            state = State.NONE;
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
            dispatcher.tell(listener -> listener.resumed(unit, ms));
        }
    }
}
