package lunar.target.internal.task;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import lunar.iscsi.pdu.CommandHeader;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Lun;
import lunar.scsi.command.CdbDecoder;
import org.jspecify.annotations.Nullable;

/**
 * The SCSI command of a task, with the fields of its PDU. Filled on the event loop's thread; the device server may read
 * it on any thread until it has ended the task.
 */
final class TaskCommand {
    private Lun lun = Lun.ZERO;
    private int itt;
    private int cmdSn;
    private boolean immediate;
    private boolean read;
    private boolean write;
    private int expectedOutBytes;
    private int expectedInBytes;

    /** Holds a CDB that fits the header; longer CDBs have a separate segment. */
    private final MemorySegment shortCdb = MemorySegment.ofArray(new byte[ScsiCommand.CDB_LENGTH]);
    private MemorySegment cdbBytes = shortCdb;
    /** The CDB as decoded by the device server on arrival; a plain one is decoded on demand. */
    private @Nullable Cdb cdb;
    private boolean plain;

    /** Sets the fields from a new command. */
    void begin(CommandHeader header, Lun to) {
        lun = to;
        itt = header.itt();
        cmdSn = header.cmdSn();
        immediate = header.immediate();
        read = header.read();
        write = header.write();
        int expected = header.expectedDataTransferBytes();
        expectedOutBytes = write ? expected : 0;
        if (!read) {
            expectedInBytes = 0;
        } else if (write) {
            expectedInBytes = Math.max(0, header.bidirectionalReadBytes());
        } else {
            expectedInBytes = expected < 0 ? Integer.MAX_VALUE : expected;
        }
        cdbBytes = header.cdbLength() == ScsiCommand.CDB_LENGTH
                ? shortCdb
                : MemorySegment.ofArray(new byte[header.cdbLength()]);
        header.copyCdb(cdbBytes);
        cdb = null;
        plain = false;
    }

    /** Keeps the CDB as the device server has decoded it. */
    void accept(Cdb decoded) {
        cdb = decoded;
    }

    /** Records that the command is a plain READ or WRITE, whose CDB is not kept decoded. */
    void acceptPlain() {
        plain = true;
    }

    Lun lun() { return lun; }

    /** Returns the initiator task tag. */
    int itt() { return itt; }

    int cmdSn() { return cmdSn; }

    boolean isImmediate() { return immediate; }

    /** Whether the initiator declares data-out (the W bit). */
    boolean writes() { return write; }

    /** Whether the command is bidirectional. */
    boolean isBidirectional() { return read && write; }

    /** Returns the expected data transfer length to the device; 0 for a command that does not write. */
    int expectedOutBytes() {
        return expectedOutBytes;
    }

    /** Returns the expected data transfer length from the device; 0 for a command that does not read. */
    int expectedInBytes() {
        return expectedInBytes;
    }

    /** Returns the CDB as received. */
    MemorySegment cdbBytes() { return cdbBytes; }

    /** Returns the operation code. */
    int opcode() {
        return cdbBytes.get(ValueLayout.JAVA_BYTE, 0) & 0xff;
    }

    boolean isPlain() { return plain; }

    /** Returns the CDB of a command that was accepted. */
    Cdb cdb() {
        if (!plain) {
            return Objects.requireNonNull(cdb);
        }
        try {
            return CdbDecoder.decode(cdbBytes);
        } catch (InvalidCdbException e) {
            throw new IllegalStateException("not a plain command", e);
        }
    }

    /** Returns the name of the command for the log, if known. */
    String name() {
        return plain || cdb != null ? cdb().toString() : "unknown";
    }
}
