package lunar.bench.harness;

import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;

/**
 * A LUN and the client that accesses it.
 *
 * @param client name of the client
 * @param sessions number of concurrent sessions
 * @param terms parameters that the client requests at login
 */
public record Pair(Subject subject, String client, int sessions, Terms terms) {

    /** Parameters to negotiate at login. */
    public enum Terms {
        /** Defaults of the client. */
        USUAL("") {
            @Override
            public Offer offer() { return Offer.DEFAULT; }
        },
        /** CRC32C of headers and data. */
        DIGESTS(", digests") {
            @Override
            public Offer offer() {
                return Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C)
                        .withDataDigest(DigestChoice.REQUIRE_CRC32C);
            }
        },
        /** Table 2 of Fujita and Ogawara, "Analysis of iSCSI Target Software". */
        PAPER("") {
            @Override
            public Offer offer() {
                return Offer.DEFAULT.withInitialR2t(true).withImmediateData(true)
                        .withMaxReceiveDataSegmentLength(128 << 10)
                        .withBurstLengths(64 << 10, 256 << 10).withMaxOutstandingR2t(1);
            }
        };

        private final String label;

        Terms(String label) { this.label = label; }

        public abstract Offer offer();
    }

    public static Pair of(Subject subject, String client) {
        return new Pair(subject, client, 1, Terms.USUAL);
    }

    public Pair withTerms(Terms value) { return new Pair(subject, client, sessions, value); }

    public Pair withSessions(int value) { return new Pair(subject, client, value, terms); }

    /** For people and for the results; no other pair of a work has the same. */
    public String label() {
        return subject + " <- " + client + (sessions == 1 ? "" : ", " + sessions + " sessions")
                + terms.label;
    }
}
