package lunar.osd.s3.http;

import java.io.IOException;

/** The connection to the client has failed, or it was too slow: no response can be sent. */
final class ClientException extends IOException {
    private static final long serialVersionUID = 1;

    ClientException(IOException cause) { super("connection closed during a request", cause); }
}
