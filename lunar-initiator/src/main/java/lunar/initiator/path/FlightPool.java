package lunar.initiator.path;

import org.jspecify.annotations.Nullable;

/** Flights without a request. Thread-safe. */
final class FlightPool {
    private @Nullable Flight top;

    @Nullable
    synchronized Flight take() {
        Flight taken = top;
        if (taken != null) {
            top = taken.next;
            taken.next = null;
        }
        return taken;
    }

    synchronized void give(Flight flight) {
        flight.next = top;
        top = flight;
    }
}
