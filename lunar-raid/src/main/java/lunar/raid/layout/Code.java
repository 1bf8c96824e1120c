package lunar.raid.layout;

/** The redundancy code of a stripe: how its redundant units follow from its data. */
public enum Code {
    /** No redundant units. */
    NONE,
    /** Each is a copy of the single data unit. */
    COPIES,
    /** P, the sum of the data units. */
    P,
    /** P, and Q, the sum of the data units each times its power of the generator. */
    PQ;

    /** Whether redundant units are computed. */
    public boolean isParity() {
        return this == P || this == PQ;
    }

    /**
     * The factor of a data unit in a redundant one.
     *
     * @param redundant 0 for P or the first copy, 1 for Q
     */
    int factor(int redundant, int dataUnit) {
        return this == PQ && redundant == 1 ? Galois.power(dataUnit) : 1;
    }
}
