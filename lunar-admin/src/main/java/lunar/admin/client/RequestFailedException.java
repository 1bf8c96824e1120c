package lunar.admin.client;

import java.io.IOException;

/** Thrown when the server reports an error. The message is one line for the operator. */
public final class RequestFailedException extends IOException {
    private static final long serialVersionUID = 1;
    private static final int NOT_FOUND = 404;

    private final int status;

    /** @param status status code of HTTP */
    RequestFailedException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** Whether the path names something that does not exist, such as a session that has ended. */
    public boolean isNotFound() {
        return status == NOT_FOUND;
    }
}
