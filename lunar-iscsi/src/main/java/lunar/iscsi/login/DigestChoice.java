package lunar.iscsi.login;

import java.util.List;

/** Choice of one end for HeaderDigest or DataDigest (RFC 7143 section 13.1). */
public enum DigestChoice {
    /** No digest is accepted. */
    NONE,
    /** None if the peer leaves the choice. */
    PREFER_NONE,
    /** CRC32C if the peer leaves the choice. */
    PREFER_CRC32C,
    /** No login without it. */
    REQUIRE_CRC32C;

    /** Returns the values to offer, in order of preference; they are also the values accepted. */
    List<String> offered() {
        return switch (this) {
            case NONE -> List.of("None");
            case PREFER_NONE -> List.of("None", "CRC32C");
            case PREFER_CRC32C -> List.of("CRC32C", "None");
            case REQUIRE_CRC32C -> List.of("CRC32C");
        };
    }
}
