package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * FORMAT OSD: removes everything; its set attributes list applies afterwards.
 *
 * @param common common fields
 * @param capacity FORMATTED CAPACITY: bytes, unsigned; 0 for all that there is
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record FormatOsdCommand(CommonFields common, long capacity, long continuationLength)
        implements
        OsdCdb {
    public FormatOsdCommand {
        common.checkContinuation(continuationLength);
    }

    static FormatOsdCommand decode(CdbReader cdb) throws InvalidCdbException {
        return new FormatOsdCommand(cdb.common(), cdb.length(), cdb.continuationLength());
    }

    @Override
    public ServiceAction action() { return ServiceAction.FORMAT_OSD; }

    @Override
    public ObjectId object() { return ObjectId.ROOT; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object()).length(capacity)
                .continuationLength(continuationLength);
    }
}
