package lunar.initiator.path;

import java.util.concurrent.TimeUnit;
import lunar.block.DeviceGoneException;

/** The time in which no path can be used, and what is told of it. Its owner calls it under the lock of its paths. */
final class Outage {
    private enum State {
        NONE, HELD, FAILING
    }

    private final MultipathDevice unit;
    private final EventDispatcher dispatcher;
    private State state = State.NONE;
    private long begunNanos;

    Outage(MultipathDevice unit, EventDispatcher dispatcher) {
        this.unit = unit;
        this.dispatcher = dispatcher;
    }

    /** A request waits. */
    void held() {
        if (begin(State.HELD)) {
            dispatcher.tell(listener -> listener.held(unit));
        }
    }

    /** A request fails since there is no path. */
    void gaveUp(DeviceGoneException why) {
        if (begin(State.FAILING)) {
            dispatcher.tell(listener -> listener.gaveUp(unit, why));
        }
    }

    /** Whether this is worse than what is known. */
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

    /** A path can be used. */
    void over() {
        if (state != State.NONE) {
            state = State.NONE;
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
            dispatcher.tell(listener -> listener.resumed(unit, ms));
        }
    }
}
