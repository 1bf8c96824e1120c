package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iser.wire.IserHeader;

/** Buffers of a command in the memory of the initiator, as it has advertised them. */
final class RemoteCommand {
    private final boolean hasWrite;
    private final int writeStag;
    private final long writeBase;
    private final boolean hasRead;
    private final int readStag;
    private final long readBase;

    /** RDMA Reads for the command that are posted; guarded by the send queue. */
    int readsOutstanding;

    /**
     * @param message with the header that advertises them
     * @param skippedBytes data-out before the Write Base Offset
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
            throw new ProtocolException("a SCSI Command whose data are needed, without a valid "
                    + which + " STag (RFC 7145 section 7.3.1)");
        }
    }

    /** Address of data-out of an offset in the transfer. */
    long writeAddress(int offset) {
        return writeBase + offset;
    }

    /** Address for data-in of an offset in the transfer. */
    long readAddress(int offset) {
        return readBase + offset;
    }

    /** The key that is invalidated with the response: that of the data-in, or else of the data-out. */
    int keyToInvalidate() {
        return hasRead ? readStag : writeStag;
    }
}
