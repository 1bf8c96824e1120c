package lunar.server;

/** Thrown when a plan contradicts a change of a LUN that was made while the server runs. */
public final class ContradictedChangeException extends InvalidPlanException {
    private static final long serialVersionUID = 1;

    private final String contradiction;

    /** @param found what the plan has instead, such as "the configuration now has file:other.img there" */
    ContradictedChangeException(LunChange change, String found) {
        this(change + ", but " + found);
    }

    private ContradictedChangeException(String contradiction) {
        super(contradiction + ": change the plan, or discard the changes of LUNs");
        this.contradiction = contradiction;
    }

    /** Returns which change the plan contradicts, and how, without an advice. */
    public String contradiction() {
        return contradiction;
    }
}
