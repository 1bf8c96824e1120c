package lunar.osd.client.security;

import java.io.IOException;

/** Thrown when there is no credential that permits a command; nothing was sent. */
public final class NoCredentialException extends IOException {
    private static final long serialVersionUID = 1;

    NoCredentialException(String message) { super(message); }
}
