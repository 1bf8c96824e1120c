package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.wire.BigEndian;

/** Reads a CDB: the common fields when created, then those of the command. */
final class CdbReader {
    /** Linux sends the additional length of OSD-2 with OSD-1 CDBs too. */
    private static final int ADDITIONAL_LENGTH_OSD_2 = OsdVersion.OSD_2.cdbLength()
            - CdbLayout.UNCOUNTED;

    private final MemorySegment cdb;
    private final ServiceAction action;
    private final CommonFields common;

    /**
     * Checks the length and reads the common fields.
     *
     * @throws InvalidCdbException 20h/00h for another command, 24h/00h with the field in error
     */
    CdbReader(MemorySegment bytes) throws InvalidCdbException {
        if (bytes.byteSize() < CdbLayout.SERVICE_ACTION_AT + 2) {
            throw InvalidCdbException.field((int) bytes.byteSize());
        }
        int code = BigEndian.int16(bytes, CdbLayout.SERVICE_ACTION_AT);
        if (BigEndian.int8(bytes, 0) != CdbLayout.OPCODE) {
            throw InvalidCdbException.operationCode();
        }
        action = ServiceAction.of(code).filter(ServiceAction::hasLayout)
                .orElseThrow(InvalidCdbException::operationCode);
        OsdVersion version = OsdVersion.ofServiceAction(code)
                .orElseThrow(InvalidCdbException::operationCode);
        checkLength(bytes, version);
        cdb = bytes;
        if ((int8(CdbLayout.CONTROL_AT) & 1 << CdbLayout.NACA_BIT) != 0) {
            throw InvalidCdbException.field(CdbLayout.CONTROL_AT, CdbLayout.NACA_BIT);
        }
        common = new CommonFields(version, options(version),
                AttributeParameters.decode(cdb, version),
                Capability.decode(cdb.asSlice(Capability.AT), version),
                SecurityParameters.decode(cdb.asSlice(Capability.end(version)), version));
    }

    private static void checkLength(MemorySegment bytes, OsdVersion version)
            throws InvalidCdbException {
        int length = version.cdbLength();
        if (bytes.byteSize() < length) {
            throw InvalidCdbException.field((int) bytes.byteSize());
        }
        int additional = BigEndian.int8(bytes, CdbLayout.ADDITIONAL_LENGTH_AT);
        boolean exact = additional == length - CdbLayout.UNCOUNTED && bytes.byteSize() == length;
        boolean linux = version == OsdVersion.OSD_1 && additional == ADDITIONAL_LENGTH_OSD_2
                && bytes.byteSize() <= OsdVersion.OSD_2.cdbLength();
        if (!exact && !linux) {
            throw InvalidCdbException.field(CdbLayout.ADDITIONAL_LENGTH_AT);
        }
    }

    private CommandOptions options(OsdVersion version) throws InvalidCdbException {
        int options = int8(CdbLayout.OPTIONS_AT);
        int timestamps = int8(CdbLayout.TIMESTAMPS_AT);
        if (timestamps != CommandOptions.UPDATE_TIMESTAMPS
                && timestamps != CommandOptions.BYPASS_TIMESTAMPS) {
            throw InvalidCdbException.field(CdbLayout.TIMESTAMPS_AT);
        }
        boolean isolated = version == OsdVersion.OSD_2 && !FlushCommand.ACTIONS.contains(action);
        Isolation isolation = Isolation.of(isolated ? options & CommandOptions.ISOLATION_MASK : 0)
                .orElseThrow(() -> InvalidCdbException.field(CdbLayout.OPTIONS_AT,
                        CommandOptions.ISOLATION_BIT));
        return new CommandOptions(isolation, (options & CommandOptions.FUA) != 0,
                (options & CommandOptions.DPO) != 0,
                timestamps == CommandOptions.BYPASS_TIMESTAMPS);
    }

    ServiceAction action() { return action; }

    CommonFields common() { return common; }

    private OsdVersion version() { return common.version(); }

    /** Partition and object. */
    ObjectId object() {
        return new ObjectId(int64(CdbLayout.PARTITION_AT), int64(CdbLayout.OBJECT_AT));
    }

    /** The partition, in commands without an object. */
    ObjectId partition() {
        return ObjectId.ofPartition(int64(CdbLayout.PARTITION_AT));
    }

    /** Whether a bit beside get/set CDBFMT is set. */
    boolean bit(int mask) {
        return bits(mask) != 0;
    }

    int bits(int mask) { return int8(CdbLayout.FORMAT_AT) & mask; }

    long length() { return int64(CdbLayout.lengthAt(version())); }

    long start() { return int64(CdbLayout.startAt(version())); }

    long listIdentifier() { return int32(CdbLayout.listIdentifierAt(version())); }

    /**
     * Bytes of the CDB continuation segment, 0 in OSD-1.
     *
     * @throws InvalidCdbException 24h/00h if it cannot have this length
     */
    long continuationLength() throws InvalidCdbException {
        if (version() == OsdVersion.OSD_1) {
            return 0;
        }
        long length = int32(CdbLayout.CONTINUATION_AT);
        if (length != 0 && !CdbLayout.isContinuationLength(length)) {
            throw InvalidCdbException.field(CdbLayout.CONTINUATION_AT);
        }
        return length;
    }

    int int8(int at) { return BigEndian.int8(cdb, at); }

    int int16(int at) { return BigEndian.int16(cdb, at); }

    long int32(int at) { return BigEndian.int32(cdb, at); }

    long int64(int at) { return BigEndian.int64(cdb, at); }

    Bytes bytes(int at, int length) { return Fields.bytes(cdb, at, length); }
}
