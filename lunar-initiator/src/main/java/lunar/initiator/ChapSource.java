package lunar.initiator;

import java.io.IOException;
import java.nio.file.Path;
import lunar.iscsi.ChapCredentials;

/**
 * Gives a CHAP name and its secret when a login needs them: from a vault, a key store, a file. It is asked at each
 * login, so that a secret may change between two of them, and what it gives is let go of when the login is over.
 *
 * {@snippet :
 * ChapSource vault = target -> new ChapCredentials("backup", Secret.of(secrets.read("iscsi/" + target)));
 * }
 */
@FunctionalInterface
public interface ChapSource {
    /**
     * Name and secret for one login. Called on the thread that logs in, and may block.
     *
     * @param targetName the target's iSCSI name; empty for discovery
     * @throws IOException when there are none to be had now; this login fails with it
     */
    ChapCredentials credentials(String targetName) throws IOException;

    /** Always the same. */
    static ChapSource fixed(ChapCredentials credentials) {
        return new FixedCredentials(credentials);
    }

    /** A user, and a file with nothing but the secret and perhaps an end of line, which is read at each login. */
    static ChapSource file(String user, Path file) {
        return new SecretFile(user, file);
    }
}
