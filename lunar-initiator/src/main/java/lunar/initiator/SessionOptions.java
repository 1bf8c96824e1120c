package lunar.initiator;

import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.ChapCredentials;
import lunar.iscsi.Offer;
import lunar.iscsi.TargetAddress;

/**
 * Where to log in, and how. Start from {@link #of}, or from a URI by {@link IscsiUri#sessionOptions}.
 *
 * @param scheme kind of transport: {@code iscsi} for TCP, {@code iser} for RDMA
 * @param portal where the target is
 * @param targetName the target's iSCSI name
 * @param offer what is offered in the negotiation: digests, bursts and so on
 * @param credentials how we prove ourselves (CHAP)
 * @param targetCredentials how the target must prove itself (mutual CHAP); needs {@code credentials}
 * @param timeouts how long the target may take
 * @param queueDepth commands at the target at once; more wait here
 */
public record SessionOptions(String scheme, TargetAddress portal, String targetName, Offer offer,
        Optional<ChapCredentials> credentials, Optional<ChapCredentials> targetCredentials,
        Timeouts timeouts, int queueDepth) {
    /** Commands at the target at once where nothing else is said. */
    public static final int DEFAULT_QUEUE_DEPTH = 128;

    /** A tag's low half counts tasks; its upper part is for what is not a SCSI command. */
    private static final int MAX_QUEUE_DEPTH = 4096;

    public SessionOptions {
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException(
                    "a queue depth is 1 to " + MAX_QUEUE_DEPTH + ", not " + queueDepth);
        }
        if (targetCredentials.isPresent() && credentials.isEmpty()) {
            throw new IllegalArgumentException(
                    "the target proves itself only where the initiator does: mutual CHAP needs both secrets");
        }
    }

    /** Over TCP, without authentication. */
    public static SessionOptions of(String host, int port, String targetName) {
        return new SessionOptions("iscsi", new TargetAddress(host, port, OptionalInt.empty()),
                targetName, Offer.DEFAULT, Optional.empty(), Optional.empty(), Timeouts.DEFAULT,
                DEFAULT_QUEUE_DEPTH);
    }

    /** The same at another portal. */
    public SessionOptions withPortal(TargetAddress value) {
        return new SessionOptions(scheme, value, targetName, offer, credentials, targetCredentials,
                timeouts, queueDepth);
    }

    /** The same with another offer. */
    public SessionOptions withOffer(Offer value) {
        return new SessionOptions(scheme, portal, targetName, value, credentials, targetCredentials,
                timeouts, queueDepth);
    }

    /** The same with CHAP. */
    public SessionOptions withChap(ChapCredentials own) {
        return new SessionOptions(scheme, portal, targetName, offer, Optional.of(own),
                targetCredentials, timeouts, queueDepth);
    }

    /** The same with CHAP in both directions. */
    public SessionOptions withMutualChap(ChapCredentials own, ChapCredentials target) {
        return new SessionOptions(scheme, portal, targetName, offer, Optional.of(own),
                Optional.of(target), timeouts, queueDepth);
    }

    /** The same with other timeouts. */
    public SessionOptions withTimeouts(Timeouts value) {
        return new SessionOptions(scheme, portal, targetName, offer, credentials, targetCredentials,
                value, queueDepth);
    }

    /** The same with another queue depth. */
    public SessionOptions withQueueDepth(int value) {
        return new SessionOptions(scheme, portal, targetName, offer, credentials, targetCredentials,
                timeouts, value);
    }
}
