package lunar.osd.client;

import java.lang.foreign.MemorySegment;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.scsi.CommandRetries;
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

    private final CommandLink link;
    private volatile @Nullable Known known;

    SecurityTokens(CommandLink link) { this.link = link; }

    /** Returns the token of the session in use. */
    Bytes token() throws StorageException {
        Object connection = link.connection();
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
        byte[] cdb = new Inquiry(true, code, MAX_BYTES).bytes();
        var data = MemorySegment.ofArray(new byte[MAX_BYTES]);
        String what = "INQUIRY page " + Integer.toHexString(code) + "h of " + link.name();
        ScsiResult result = CommandRetries.send(
                () -> link.execute(cdb, data, MemorySegment.NULL), true, link.patienceMs(),
                () -> what).orThrow(what);
        int bytes = Math.min(result.dataInBytes(), MAX_BYTES);
        return bytes <= HEADER
                ? Bytes.EMPTY
                : Bytes.of(data.asSlice(HEADER, bytes - HEADER));
    }
}
