package lunar.cli;

import lunar.iscsi.DigestChoice;

/** What a user says about a digest. */
enum Digest {
    /** Never. */
    NONE(DigestChoice.NONE),
    /** If the peer asks for it. */
    ALLOW(DigestChoice.PREFER_NONE),
    /** If the peer can. */
    PREFER(DigestChoice.PREFER_CRC32C),
    /** No session without. */
    REQUIRE(DigestChoice.REQUIRE_CRC32C);

    private final DigestChoice choice;

    Digest(DigestChoice choice) { this.choice = choice; }

    DigestChoice choice() { return choice; }
}
