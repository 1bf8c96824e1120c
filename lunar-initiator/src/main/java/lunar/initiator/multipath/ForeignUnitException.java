package lunar.initiator.multipath;

import java.io.IOException;

/** Thrown when a path leads to a different logical unit than the other paths. */
final class ForeignUnitException extends IOException {
    private static final long serialVersionUID = 1L;

    ForeignUnitException(String message) { super(message); }
}
