package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.security.Capability;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/** Writes a CDB: the common fields when created, then those of the command. */
final class CdbWriter {
    private final MemorySegment cdb;
    private final OsdVersion version;

    CdbWriter(MemorySegment target, ServiceAction action, CommonFields common, ObjectId object) {
        version = common.version();
        cdb = target.asSlice(0, version.cdbLength());
        cdb.fill((byte) 0);
        BigEndian.int8(cdb, 0, CdbLayout.OPCODE);
        BigEndian.int8(cdb, CdbLayout.ADDITIONAL_LENGTH_AT,
                version.cdbLength() - CdbLayout.UNCOUNTED);
        BigEndian.int16(cdb, CdbLayout.SERVICE_ACTION_AT, action.code(version));
        BigEndian.int8(cdb, CdbLayout.OPTIONS_AT, common.options().optionsByte());
        BigEndian.int8(cdb, CdbLayout.FORMAT_AT,
                common.attributes().format() << CdbLayout.FORMAT_SHIFT);
        BigEndian.int8(cdb, CdbLayout.TIMESTAMPS_AT, common.options().timestampsControl());
        BigEndian.int64(cdb, CdbLayout.PARTITION_AT, object.partition());
        BigEndian.int64(cdb, CdbLayout.OBJECT_AT, object.object());
        common.attributes().encode(cdb, version);
        common.capability().encode(cdb.asSlice(Capability.AT), version);
        common.security().encode(cdb.asSlice(Capability.end(version)));
    }

    /** Sets bits of the options byte. */
    CdbWriter options(int bits) {
        BigEndian.int8(cdb, CdbLayout.OPTIONS_AT, BigEndian.int8(cdb, CdbLayout.OPTIONS_AT) | bits);
        return this;
    }

    /** Sets bits beside get/set CDBFMT. */
    CdbWriter bits(int bits) {
        BigEndian.int8(cdb, CdbLayout.FORMAT_AT, BigEndian.int8(cdb, CdbLayout.FORMAT_AT) | bits);
        return this;
    }

    CdbWriter length(long value) {
        BigEndian.int64(cdb, CdbLayout.lengthAt(version), value);
        return this;
    }

    CdbWriter start(long value) {
        BigEndian.int64(cdb, CdbLayout.startAt(version), value);
        return this;
    }

    CdbWriter listIdentifier(long value) {
        BigEndian.int32(cdb, CdbLayout.listIdentifierAt(version), value);
        return this;
    }

    CdbWriter continuationLength(long value) {
        if (version == OsdVersion.OSD_2) {
            BigEndian.int32(cdb, CdbLayout.CONTINUATION_AT, value);
        }
        return this;
    }

    CdbWriter int8(int at, int value) {
        BigEndian.int8(cdb, at, value);
        return this;
    }

    CdbWriter int16(int at, int value) {
        BigEndian.int16(cdb, at, value);
        return this;
    }

    CdbWriter int32(int at, long value) {
        BigEndian.int32(cdb, at, value);
        return this;
    }

    CdbWriter int64(int at, long value) {
        BigEndian.int64(cdb, at, value);
        return this;
    }

    CdbWriter bytes(int at, Bytes value) {
        Fields.bytes(cdb, at, value);
        return this;
    }
}
