package lunar.it.fuzz;

/** Thrown when the target violates an invariant. */
final class FuzzFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    FuzzFailure(String what) { super(what); }

    FuzzFailure(String what, Throwable cause) { super(what, cause); }
}
