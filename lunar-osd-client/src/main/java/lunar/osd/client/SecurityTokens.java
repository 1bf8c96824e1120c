package lunar.osd.client;

import lunar.block.StorageException;
import lunar.scsi.Bytes;
import lunar.scsi.vpd.Inquiry;
import org.jspecify.annotations.Nullable;

/** The security token of the session in use (VPD page B1h). Thread-safe. */
final class SecurityTokens {
    /** OSD information: the OSD system identifier. */
    static final int INFORMATION_PAGE = 0xb0;

    private static final int TOKEN_PAGE = 0xb1;
    private static final int HEADER = 4;
    private static final int MAX_BYTES = 255;

    private record Known(Object connection, Bytes token) {}

    private final OsdCalls calls;
    private volatile @Nullable Known known;

    SecurityTokens(OsdCalls calls) { this.calls = calls; }

    /** Returns the token of the session in use. */
    Bytes token() throws StorageException {
        Object connection = calls.connection();
        Known before = known;
        if (before != null && before.connection().equals(connection)) {
            return before.token();
        }
        Bytes token = page(TOKEN_PAGE);
        known = new Known(connection, token);
        return token;
    }

    /** Asks again next time. */
    void forget() { known = null; }

    /** Reads the content of a VPD page. */
    Bytes page(int code) throws StorageException {
        return calls.ask(new Inquiry(true, code, MAX_BYTES), MAX_BYTES,
                data -> data.byteSize() <= HEADER ? Bytes.EMPTY : Bytes.of(data.asSlice(HEADER)));
    }
}
