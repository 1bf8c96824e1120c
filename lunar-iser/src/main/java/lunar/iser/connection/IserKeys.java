package lunar.iser.connection;

import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iser.memory.DeviceMemory;

/** Adapts the offer of an end to a login over iSER (RFC 7145 section 6). */
public final class IserKeys {
    /** MaxOutstandingUnexpectedPDUs: receives beyond those for commands and their answers. */
    static final int UNEXPECTED_PDUS = 32;

    private IserKeys() {}

    /**
     * Adapts what an end wants of any login. There are no digests (section 6.1), since the adapter has checksums of its
     * own; an end that requires one finds no agreement. Nothing is lost on the way, so that ErrorRecoveryLevel is 0.
     * Write data that do not come with the command are fetched, rather than sent in PDUs of a few kilobytes.
     *
     * @param needsHello whether an initiator wants the exchange of Hello and HelloReply
     */
    public static Offer adapt(Offer wanted, boolean needsHello) {
        int length = Math.min(wanted.maxReceiveDataSegmentLength(), DeviceMemory.MAX_DATA_BYTES);
        return wanted.withHeaderDigest(digest(wanted.headerDigest()))
                .withDataDigest(digest(wanted.dataDigest())).withErrorRecoveryLevel(0)
                .withInitialR2t(true).withMaxReceiveDataSegmentLength(length)
                .withIser(new Offer.Iser(length, length, UNEXPECTED_PDUS,
                        DeviceMemory.MAX_AHS_BYTES, true, needsHello));
    }

    private static DigestChoice digest(DigestChoice wanted) {
        return wanted == DigestChoice.REQUIRE_CRC32C ? wanted : DigestChoice.NONE;
    }
}
