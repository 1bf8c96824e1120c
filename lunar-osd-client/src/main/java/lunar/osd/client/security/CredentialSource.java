package lunar.osd.client.security;

import java.io.IOException;
import lunar.osd.security.Credential;

/** Provides the credentials of commands. Thread-safe; may send commands to the device itself. */
public interface CredentialSource {
    /**
     * Returns the credential of a command.
     *
     * @throws NoCredentialException if there is none that permits it
     */
    Credential credential(CredentialRequest request) throws IOException;

    /** Called when the device has found the credential of a command wrong: the keys may be others now. */
    default void refused(CredentialRequest request) {}
}
