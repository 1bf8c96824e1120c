package lunar.initiator.multipath;

import java.io.IOException;

/** Thrown when a path leads to another logical unit than the others. */
final class ForeignUnitException extends IOException {
    private static final long serialVersionUID = 1L;

    ForeignUnitException(String message) { super(message); }
}
