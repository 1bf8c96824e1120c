package lunar.it.fuzz;

/** The target has done what it must not do. */
final class FuzzFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    FuzzFailure(String what) { super(what); }

    FuzzFailure(String what, Throwable cause) { super(what, cause); }
}
