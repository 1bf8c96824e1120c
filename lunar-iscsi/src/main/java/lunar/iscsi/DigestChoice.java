package lunar.iscsi;

import java.util.List;

/** What one end wants of HeaderDigest or DataDigest (RFC 7143 section 13.1). */
public enum DigestChoice {
    /** No digest is accepted. */
    NONE(List.of("None")),
    /** None if the peer leaves the choice. */
    PREFER_NONE(List.of("None", "CRC32C")),
    /** CRC32C if the peer leaves the choice. */
    PREFER_CRC32C(List.of("CRC32C", "None")),
    /** No login without it. */
    REQUIRE_CRC32C(List.of("CRC32C"));

    private final List<String> offered;

    DigestChoice(List<String> offered) { this.offered = offered; }

    /** What is offered, in order; and what is accepted. */
    List<String> offered() {
        return offered;
    }
}
