package lunar.initiator;

import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.ChapAlgorithm;
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
 * @param chap how we prove ourselves, and perhaps the target; empty for no authentication
 * @param timeouts how long the target may take
 * @param queueDepth commands at the target at once; more wait here
 */
public record SessionOptions(String scheme, TargetAddress portal, String targetName, Offer offer,
        Optional<ChapOptions> chap, Timeouts timeouts, int queueDepth) {
    /** Commands at the target at once where nothing else is said. */
    public static final int DEFAULT_QUEUE_DEPTH = 128;

    /** A tag's low half counts tasks; its upper part is for what is not a SCSI command. */
    private static final int MAX_QUEUE_DEPTH = 4096;

    public SessionOptions {
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException(
                    "a queue depth is 1 to " + MAX_QUEUE_DEPTH + ", not " + queueDepth);
        }
    }

    /**
     * With credentials that do not change.
     *
     * @param credentials how we prove ourselves (CHAP)
     * @param targetCredentials how the target must prove itself (mutual CHAP); needs {@code credentials}
     */
    public SessionOptions(String scheme, TargetAddress portal, String targetName, Offer offer,
            Optional<ChapCredentials> credentials, Optional<ChapCredentials> targetCredentials,
            Timeouts timeouts, int queueDepth) {
        this(scheme, portal, targetName, offer, chap(credentials, targetCredentials), timeouts,
                queueDepth);
    }

    private static Optional<ChapOptions> chap(Optional<ChapCredentials> own,
            Optional<ChapCredentials> target) {
        if (target.isPresent() && own.isEmpty()) {
            throw new IllegalArgumentException(
                    "the target proves itself only where the initiator does: mutual CHAP needs both secrets");
        }
        return own.map(ChapOptions::of)
                .map(options -> target.map(options::withTarget).orElse(options));
    }

    /** Over TCP, without authentication. */
    public static SessionOptions of(String host, int port, String targetName) {
        return new SessionOptions("iscsi", new TargetAddress(host, port, OptionalInt.empty()),
                targetName, Offer.DEFAULT, Optional.empty(), Timeouts.DEFAULT, DEFAULT_QUEUE_DEPTH);
    }

    /** The same at another portal. */
    public SessionOptions withPortal(TargetAddress value) {
        return new SessionOptions(scheme, value, targetName, offer, chap, timeouts, queueDepth);
    }

    /** The same with another offer. */
    public SessionOptions withOffer(Offer value) {
        return new SessionOptions(scheme, portal, targetName, value, chap, timeouts, queueDepth);
    }

    /** The same with CHAP by all that there is to say about it. */
    public SessionOptions withChap(ChapOptions value) {
        return new SessionOptions(scheme, portal, targetName, offer, Optional.of(value), timeouts,
                queueDepth);
    }

    /** The same with CHAP. */
    public SessionOptions withChap(ChapCredentials own) {
        return withChap(chap.map(before -> before.withOwn(ChapSource.fixed(own)))
                .orElseGet(() -> ChapOptions.of(own)));
    }

    /** The same with CHAP in both directions. */
    public SessionOptions withMutualChap(ChapCredentials own, ChapCredentials target) {
        return withChap(new ChapOptions(ChapSource.fixed(own),
                Optional.of(ChapSource.fixed(target)),
                chap.map(ChapOptions::algorithms).orElse(ChapAlgorithm.DEFAULT_ORDER)));
    }

    /** How we prove ourselves, if that does not change; empty where a source is asked at each login. */
    public Optional<ChapCredentials> credentials() {
        return chap.map(ChapOptions::own).flatMap(SessionOptions::unchanging);
    }

    /** How the target proves itself, if that does not change; empty where a source is asked at each login. */
    public Optional<ChapCredentials> targetCredentials() {
        return chap.flatMap(ChapOptions::target).flatMap(SessionOptions::unchanging);
    }

    private static Optional<ChapCredentials> unchanging(ChapSource source) {
        return source instanceof FixedCredentials fixed
                ? Optional.of(fixed.credentials())
                : Optional.empty();
    }

    /** A discovery session at the same portal, with the same secrets. */
    SessionOptions forDiscovery() {
        return new SessionOptions(scheme, portal, "", Offer.DEFAULT, chap, timeouts, 1);
    }

    /** The same with other timeouts. */
    public SessionOptions withTimeouts(Timeouts value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, value, queueDepth);
    }

    /** The same with another queue depth. */
    public SessionOptions withQueueDepth(int value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, value);
    }
}
