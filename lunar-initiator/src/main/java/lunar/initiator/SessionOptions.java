package lunar.initiator;

import java.util.List;
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
 * @param connections connections of the session, where the target allows so many (MC/S, RFC 7143 section 4.2.2)
 * @param otherPortals where else connections of the session may go, each with its portal group tag, as discovery tells
 *        them: those of the group in which the session is are used
 */
public record SessionOptions(String scheme, TargetAddress portal, String targetName, Offer offer,
        Optional<ChapOptions> chap, Timeouts timeouts, int queueDepth, int connections,
        List<TargetAddress> otherPortals) {
    /** Commands at the target at once where nothing else is said. */
    public static final int DEFAULT_QUEUE_DEPTH = 128;

    /** A tag's low half counts tasks; its upper part is for what is not a SCSI command. */
    private static final int MAX_QUEUE_DEPTH = 4096;

    /** Most connections of a session. */
    private static final int MAX_CONNECTIONS = 32;

    public SessionOptions {
        otherPortals = List.copyOf(otherPortals);
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw new IllegalArgumentException("a session has 1 to " + MAX_CONNECTIONS
                    + " connections, not " + connections);
        }
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException(
                    "a queue depth is 1 to " + MAX_QUEUE_DEPTH + ", not " + queueDepth);
        }
    }

    /** Over TCP, without authentication. */
    public static SessionOptions of(String host, int port, String targetName) {
        return new SessionOptions("iscsi", new TargetAddress(host, port, OptionalInt.empty()),
                targetName, Offer.DEFAULT, Optional.empty(), Timeouts.DEFAULT, DEFAULT_QUEUE_DEPTH,
                1, List.of());
    }

    /** The same at another portal. */
    public SessionOptions withPortal(TargetAddress value) {
        return new SessionOptions(scheme, value, targetName, offer, chap, timeouts, queueDepth,
                connections, otherPortals);
    }

    /** The same with another offer. */
    public SessionOptions withOffer(Offer value) {
        return new SessionOptions(scheme, portal, targetName, value, chap, timeouts, queueDepth,
                connections, otherPortals);
    }

    /** The same with CHAP by all that there is to say about it. */
    public SessionOptions withChap(ChapOptions value) {
        return new SessionOptions(scheme, portal, targetName, offer, Optional.of(value), timeouts,
                queueDepth, connections, otherPortals);
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
        return new SessionOptions(scheme, portal, "", Offer.DEFAULT, chap, timeouts, 1, 1,
                List.of());
    }

    /** The same with other timeouts. */
    public SessionOptions withTimeouts(Timeouts value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, value, queueDepth,
                connections, otherPortals);
    }

    /** The same with another queue depth. */
    public SessionOptions withQueueDepth(int value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, value,
                connections, otherPortals);
    }

    /** The same with another number of connections. */
    public SessionOptions withConnections(int value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, queueDepth,
                value, otherPortals);
    }

    /** The same with other portals for its connections. */
    public SessionOptions withOtherPortals(List<TargetAddress> value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, queueDepth,
                connections, value);
    }

    /**
     * The same with a level of error recovery (RFC 7143 section 7.1.5): 0, 1 to make good what digests find damaged,
     * 2 to have tasks outlive their connection.
     */
    public SessionOptions withErrorRecoveryLevel(int value) {
        return withOffer(offer.with(changed -> changed.errorRecoveryLevel(value)));
    }
}
