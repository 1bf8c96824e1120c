package lunar.it.fuzz;

/**
 * Negotiated parameters of a login without mutations on which later requests depend.
 *
 * @param outstandingR2t R2Ts of one command at once
 */
record Negotiated(boolean headerDigest, boolean dataDigest, boolean initialR2t,
        boolean immediateData,
        int firstBurst, int maxBurst, int outstandingR2t, boolean discovery) {
    /** As long as the target lets a data segment be. */
    static final int SEGMENT = 256 << 10;

    static final Negotiated PLAIN = new Negotiated(false, false, false, true, 65_536, 262_144, 1,
            false);
}
