package lunar.server;

/**
 * Thrown when a target without authentication could be reached from other machines, and the plan does not permit that.
 */
public final class OpenTargetException extends InvalidPlanException {
    private static final long serialVersionUID = 1;

    private final String iqn;

    OpenTargetException(String iqn) {
        super("other machines can reach this portal of " + iqn + ": configure CHAP"
                + " for the target, or allow anonymous access");
        this.iqn = iqn;
    }

    /** Returns the name of the target. */
    public String iqn() { return iqn; }
}
