package lunar.server;

/** Thrown when a target that asks for no secret could be reached from other machines, which the plan does not allow. */
public final class OpenTargetException extends InvalidPlanException {
    private static final long serialVersionUID = 1;

    private final String iqn;

    OpenTargetException(String iqn) {
        super("other machines can reach this portal of " + iqn + ": give the target CHAP"
                + " credentials, or allow anonymous access");
        this.iqn = iqn;
    }

    /** Returns the name of the target. */
    public String iqn() { return iqn; }
}
