package lunar.initiator;

import java.io.IOException;
import java.nio.file.Path;
import lunar.iscsi.login.ChapCredentials;

/**
 * Supplies a CHAP name and its secret for a login, from a vault, a key store or a file. Called at each login, so that a
 * secret may change between logins; the credentials are released after the login.
 *
 * {@snippet :
 * ChapSource vault = target -> new ChapCredentials("backup", Secret.of(secrets.read("iscsi/" + target)));
 * }
 */
@FunctionalInterface
public interface ChapSource {
    /**
     * Returns name and secret for one login. Called on the thread that logs in, and may block.
     *
     * @param targetName the target's iSCSI name; empty for discovery
     * @throws IOException if none are available now; this login fails with it
     */
    ChapCredentials credentials(String targetName) throws IOException;

    /** Returns a source that always supplies the same credentials. */
    static ChapSource fixed(ChapCredentials credentials) {
        return new FixedCredentials(credentials);
    }

    /** Returns a source that reads the user's secret at each login from a file that holds it and perhaps a line end. */
    static ChapSource file(String user, Path file) {
        return new SecretFile(user, file);
    }
}
