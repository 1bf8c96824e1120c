package lunar.iscsi.transfer;

import lunar.iscsi.login.OperationalParameters;

/**
 * Negotiated rules of data transfer, in plain numbers (RFC 7143 sections 13.10 to 13.19).
 *
 * @param firstBurstBytes FirstBurstLength
 * @param maxBurstBytes MaxBurstLength
 * @param maxOutstandingR2t MaxOutstandingR2T
 * @param initialR2t InitialR2T: no unsolicited Data-Out
 * @param immediateData ImmediateData: the command PDU may carry data
 * @param dataPduInOrder DataPDUInOrder: offsets go up without gaps within a sequence
 * @param dataSequenceInOrder DataSequenceInOrder: sequences go up without gaps within a command
 */
public record BurstRules(int firstBurstBytes, int maxBurstBytes, int maxOutstandingR2t,
        boolean initialR2t, boolean immediateData, boolean dataPduInOrder,
        boolean dataSequenceInOrder) {
    /** Rules that hold if nothing is negotiated. */
    public static final BurstRules DEFAULT = new BurstRules(65_536, 262_144, 1, true, true, true,
            true);

    private static final int MIN_BYTES = 512;
    private static final int MAX_BYTES = (1 << 24) - 1;
    private static final int MAX_R2T = 65_535;

    public BurstRules {
        if (firstBurstBytes < MIN_BYTES || firstBurstBytes > maxBurstBytes
                || maxBurstBytes > MAX_BYTES) {
            throw new IllegalArgumentException("FirstBurstLength " + firstBurstBytes
                    + ", MaxBurstLength " + maxBurstBytes);
        }
        if (maxOutstandingR2t < 1 || maxOutstandingR2t > MAX_R2T) {
            throw new IllegalArgumentException("MaxOutstandingR2T " + maxOutstandingR2t);
        }
    }

    /** Returns the rules that a login has agreed on. */
    public static BurstRules of(OperationalParameters agreed) {
        return new BurstRules(agreed.firstBurstLength(), agreed.maxBurstLength(),
                agreed.maxOutstandingR2t(), agreed.initialR2t(), agreed.immediateData(),
                agreed.dataPduInOrder(), agreed.dataSequenceInOrder());
    }
}
