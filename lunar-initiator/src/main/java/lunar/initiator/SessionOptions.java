package lunar.initiator;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.Offer;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;

/**
 * Options of a session: target, transport, authentication, limits. Start from {@link #of}, or from a URI by
 * {@link IscsiUri#sessionOptions}.
 *
 * @param scheme transport: {@code iscsi} for TCP, {@code iscsis} for TLS, {@code iser} for RDMA
 * @param portal portal of the target
 * @param targetName the target's iSCSI name
 * @param offer parameters offered in the negotiation, such as digests and bursts
 * @param chap authentication of the initiator, and optionally of the target; empty for no authentication
 * @param timeouts timeouts
 * @param queueDepth maximum number of commands at the target; further ones are queued here
 * @param connections connections of the session, as far as the target allows (MC/S, RFC 7143 section 4.2.2)
 * @param otherPortals further portals for connections of the session, each with its portal group tag, as discovered;
 *        those in the session's group are used
 * @param tls PEM files of a session over TLS, read for each connection; other transports ignore them
 */
public record SessionOptions(String scheme, TargetAddress portal, String targetName, Offer offer,
        Optional<ChapOptions> chap, Timeouts timeouts, int queueDepth, int connections,
        List<TargetAddress> otherPortals, TlsFiles tls) {
    /** Default for the number of commands at the target at once. */
    public static final int DEFAULT_QUEUE_DEPTH = 128;

    /** A tag's low half numbers the task slots; its upper part is for requests other than SCSI commands. */
    private static final int MAX_QUEUE_DEPTH = 4096;

    /** Maximum number of connections of a session. */
    private static final int MAX_CONNECTIONS = 32;

    public SessionOptions {
        otherPortals = List.copyOf(otherPortals);
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw new IllegalArgumentException(
                    "the number of connections must be 1 to " + MAX_CONNECTIONS
                            + ", not " + connections);
        }
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException(
                    "the queue depth must be 1 to " + MAX_QUEUE_DEPTH + ", not " + queueDepth);
        }
    }

    /** Returns options for a session over TCP, without authentication. */
    public static SessionOptions of(String host, int port, String targetName) {
        return new SessionOptions(Transports.ISCSI,
                new TargetAddress(host, port, OptionalInt.empty()),
                targetName, Offer.DEFAULT, Optional.empty(), Timeouts.DEFAULT, DEFAULT_QUEUE_DEPTH,
                1, List.of(), TlsFiles.NONE);
    }

    /** Returns these options with the transport of another scheme. */
    public SessionOptions withTransport(String value) {
        return new SessionOptions(value, portal, targetName, offer, chap, timeouts, queueDepth,
                connections, otherPortals, tls);
    }

    /** Returns these options with another portal. */
    public SessionOptions withPortal(TargetAddress value) {
        return new SessionOptions(scheme, value, targetName, offer, chap, timeouts, queueDepth,
                connections, otherPortals, tls);
    }

    /** Returns these options with another offer. */
    public SessionOptions withOffer(Offer value) {
        return new SessionOptions(scheme, portal, targetName, value, chap, timeouts, queueDepth,
                connections, otherPortals, tls);
    }

    /** Returns these options with CHAP as the given options specify it. */
    public SessionOptions withChap(ChapOptions value) {
        return new SessionOptions(scheme, portal, targetName, offer, Optional.of(value), timeouts,
                queueDepth, connections, otherPortals, tls);
    }

    /** Returns these options with CHAP, where the initiator proves itself by the given credentials. */
    public SessionOptions withChap(ChapCredentials own) {
        return withChap(chap.map(before -> before.withOwn(ChapSource.fixed(own)))
                .orElseGet(() -> ChapOptions.of(own)));
    }

    /** Returns these options with CHAP in both directions. */
    public SessionOptions withMutualChap(ChapCredentials own, ChapCredentials target) {
        return withChap(new ChapOptions(ChapSource.fixed(own),
                Optional.of(ChapSource.fixed(target)),
                chap.map(ChapOptions::algorithms).orElse(ChapAlgorithm.DEFAULT_ORDER)));
    }

    /** Returns the initiator's credentials, if they are fixed; empty if a source is asked at each login. */
    public Optional<ChapCredentials> credentials() {
        return chap.map(ChapOptions::own).flatMap(SessionOptions::unchanging);
    }

    /** Returns the target's credentials, if they are fixed; empty if a source is asked at each login. */
    public Optional<ChapCredentials> targetCredentials() {
        return chap.flatMap(ChapOptions::target).flatMap(SessionOptions::unchanging);
    }

    private static Optional<ChapCredentials> unchanging(ChapSource source) {
        return source instanceof FixedCredentials fixed
                ? Optional.of(fixed.credentials())
                : Optional.empty();
    }

    /** Returns options for a discovery session at the same portal, with the same secrets. */
    SessionOptions forDiscovery() {
        return new SessionOptions(scheme, portal, "", Offer.DEFAULT, chap, timeouts, 1, 1,
                List.of(), tls);
    }

    /** Returns these options with other timeouts. */
    public SessionOptions withTimeouts(Timeouts value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, value, queueDepth,
                connections, otherPortals, tls);
    }

    /** Returns these options with another queue depth. */
    public SessionOptions withQueueDepth(int value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, value,
                connections, otherPortals, tls);
    }

    /** Returns these options with another number of connections. */
    public SessionOptions withConnections(int value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, queueDepth,
                value, otherPortals, tls);
    }

    /** Returns these options with other portals for further connections. */
    public SessionOptions withOtherPortals(List<TargetAddress> value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, queueDepth,
                connections, value, tls);
    }

    /** Returns these options with other files for TLS. */
    public SessionOptions withTls(TlsFiles value) {
        return new SessionOptions(scheme, portal, targetName, offer, chap, timeouts, queueDepth,
                connections, otherPortals, value);
    }

    /**
     * Returns these options with another ErrorRecoveryLevel (RFC 7143 section 7.1.5): 0, 1 to recover data that a
     * digest finds damaged, 2 to have tasks outlive their connection.
     */
    public SessionOptions withErrorRecoveryLevel(int value) {
        return withOffer(offer.withErrorRecoveryLevel(value));
    }
}
