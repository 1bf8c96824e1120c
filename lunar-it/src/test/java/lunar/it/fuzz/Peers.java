package lunar.it.fuzz;

import java.util.List;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.Secret;

/** Names and secrets of the targets under test. */
final class Peers {
    /** Open to everybody. Captured streams name them, so they have the names that the captures have. */
    static final List<String> OPEN = List.of("plain", "lio", "digest", "nop", "r2t", "small",
            "unsolicited", "erl2").stream().map(name -> "iqn.2026-01.org.lunar:" + name).toList();

    /** Also open, for unmutated connections: no other connection resets its LUNs. */
    static final String CLEAN = "iqn.2026-01.org.lunar:clean";

    /** Asks for CHAP, and can prove itself. */
    static final String GUARDED = "iqn.2026-01.org.lunar:chap";

    static final ChapCredentials READER = new ChapCredentials("reader",
            Secret.of("a secret of the reader"));
    static final ChapCredentials OWN = new ChapCredentials("lunar",
            Secret.of("a secret of the target"));

    /** Its session must not notice anything; no stream names it. */
    static final String KEPT = "iqn.2026-11.org.lunar:kept";
    static final ChapCredentials KEEPER = new ChapCredentials("keeper",
            Secret.of("that nobody else has"));

    private Peers() {}
}
