package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iser.wire.IserHeader;

/** The buffers in the initiator's memory that a SCSI Command advertises; at a target. */
final class RemoteCommand {
    private final boolean hasWrite;
    private final int writeStag;
    private final long writeBase;
    private final boolean hasRead;
    private final int readStag;
    private final long readBase;

    /** Number of posted RDMA Reads of the command; guarded by the send queue. */
    int readsOutstanding;

    /**
     * @param message message whose header advertises the buffers
     * @param skippedBytes number of data-out bytes before the Write Base Offset
     */
    RemoteCommand(MemorySegment message, int skippedBytes) {
        hasWrite = IserHeader.hasWrite(message);
        writeStag = IserHeader.writeStag(message);
        writeBase = IserHeader.writeBase(message) - skippedBytes;
        hasRead = IserHeader.hasRead(message);
        readStag = IserHeader.readStag(message);
        readBase = IserHeader.readBase(message);
    }

    int writeStag() throws ProtocolException {
        require(hasWrite, "Write");
        return writeStag;
    }

    int readStag() throws ProtocolException {
        require(hasRead, "Read");
        return readStag;
    }

    private static void require(boolean is, String which) throws ProtocolException {
        if (!is) {
            throw new ProtocolException("SCSI Command without a valid " + which
                    + " STag for its data (RFC 7145 section 7.3.1)");
        }
    }

    /** Returns the remote address of the data-out at an offset in the transfer. */
    long writeAddress(int offset) {
        return writeBase + offset;
    }

    /** Returns the remote address for the data-in at an offset in the transfer. */
    long readAddress(int offset) {
        return readBase + offset;
    }

    /** Returns the STag that the response invalidates: the Read STag, or else the Write STag (section 8.3.2). */
    int keyToInvalidate() {
        return hasRead ? readStag : writeStag;
    }
}
