package lunar.it.fuzz;

/**
 * What a login without mutations ends with, as far as what follows depends on it.
 *
 * @param outstandingR2t R2Ts of one command at once
 */
record Agreed(boolean headerDigest, boolean dataDigest, boolean initialR2t, boolean immediateData,
        int firstBurst, int maxBurst, int outstandingR2t, boolean discovery) {
    /** As long as the target lets a data segment be. */
    static final int SEGMENT = 256 << 10;

    static final Agreed PLAIN = new Agreed(false, false, false, true, 65_536, 262_144, 1, false);
}
