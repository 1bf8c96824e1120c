package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.Bytes;

/**
 * PERFORM SCSI COMMAND: another command, protected by a capability. Its CDB is not decoded, so {@link #direction} does
 * not count its data.
 *
 * @param common common fields
 * @param object partition and object that the capability is for
 * @param cdb the CDB, padded with zeros to 16 bytes
 */
public record PerformScsiCommand(CommonFields common, ObjectId object, Bytes cdb)
        implements
        OsdCdb {
    /** Bytes of the CDB. */
    public static final int EMBEDDED_LENGTH = 16;

    public PerformScsiCommand {
        Fields.checkLength("cdb", cdb, EMBEDDED_LENGTH);
    }

    static PerformScsiCommand decode(CdbReader reader) {
        return new PerformScsiCommand(reader.common(), reader.object(),
                reader.bytes(CdbLayout.SPECIFIC_AT, EMBEDDED_LENGTH));
    }

    @Override
    public ServiceAction action() { return ServiceAction.PERFORM_SCSI_COMMAND; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object).bytes(CdbLayout.SPECIFIC_AT, cdb);
    }
}
