package lunar.iser.connection;

import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iser.memory.DeviceMemory;

/** Restricts the login keys that an end offers to values that iSER supports, and adds those of RFC 7145 (section 6). */
public final class IserKeys {
    /** MaxOutstandingUnexpectedPDUs: receives in addition to those for commands or their responses. */
    static final int UNEXPECTED_PDUS = 32;

    private IserKeys() {}

    /**
     * Returns the offer for a login over iSER. Digests are not used (section 6.1), since RDMA transports have checksums
     * of their own; if an end requires a digest, the login fails. RDMA loses no PDUs, so that ErrorRecoveryLevel is 0.
     * InitialR2T is Yes, so that write data that do not come with the command are fetched by RDMA Reads, rather than
     * sent in PDUs of a few kilobytes.
     *
     * @param wanted the offer for a transport without restrictions
     * @param needsHello whether this end, as an initiator, requires the exchange of Hello and HelloReply
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
