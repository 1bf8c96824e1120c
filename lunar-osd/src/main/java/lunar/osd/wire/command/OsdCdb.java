package lunar.osd.wire.command;

import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.Cdb;

/**
 * A CDB of an object-based storage device. The records are those of groups of commands; {@link #action} tells which
 * command it is.
 *
 * <p>Data-out is a CDB continuation segment of {@link #continuationLength} bytes, the data of the command behind it,
 * and the lists of {@link CommonFields#attributes} where their offsets say.
 */
public sealed interface OsdCdb extends Cdb permits ByteRangeCommand, FlushCommand, CreateCommand,
        CreatePartitionCommand, CreateCollectionCommand, RemoveCommand, ListCommand,
        AttributesCommand, QueryCommand, ReadMapCommand, FormatOsdCommand, StructureCheckCommand,
        SetKeyCommand, SetMasterKeyCommand, PerformScsiCommand, PerformTaskManagementCommand {
    /** The command. */
    ServiceAction action();

    /** The fields that every CDB has. */
    CommonFields common();

    /** The object that the command addresses; the requested one where it creates it. */
    ObjectId object();

    /** Bytes of the CDB continuation segment at the start of data-out; 0 for none. */
    default long continuationLength() {
        return 0;
    }

    /** Whether the command itself has data-out, beside continuation and attributes. */
    default boolean hasDataOut() {
        return false;
    }

    /** Whether the command itself has data-in, beside attributes. */
    default boolean hasDataIn() {
        return false;
    }

    @Override
    default int opcode() { return CdbLayout.OPCODE; }

    @Override
    default int length() { return common().version().cdbLength(); }

    @Override
    default Direction direction() {
        boolean out = hasDataOut() || continuationLength() > 0
                || common().attributes().hasDataOut();
        boolean in = hasDataIn() || common().attributes().hasDataIn();
        if (out && in) {
            return Direction.BOTH;
        }
        if (out) {
            return Direction.OUT;
        }
        return in ? Direction.IN : Direction.NONE;
    }
}
