package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * QUERY: finds the members of a collection whose attributes match. The query list is in the CDB continuation segment.
 * OSD-2 only.
 *
 * @param common common fields
 * @param object the collection that is searched
 * @param allocationLength most bytes of the reply, unsigned
 * @param matches Collection_Object_ID of the collection that gets the objects found; 0 for none
 * @param immediateTracking IMMED_TR
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record QueryCommand(CommonFields common, ObjectId object, long allocationLength,
        long matches, boolean immediateTracking, long continuationLength) implements OsdCdb {
    public QueryCommand {
        common.check(ServiceAction.QUERY, EnumSet.of(ServiceAction.QUERY));
        common.checkContinuation(continuationLength);
    }

    static QueryCommand decode(CdbReader cdb) throws InvalidCdbException {
        return new QueryCommand(cdb.common(), cdb.object(), cdb.length(), cdb.start(),
                cdb.bit(CreateCollectionCommand.IMMEDIATE_TRACKING), cdb.continuationLength());
    }

    @Override
    public ServiceAction action() { return ServiceAction.QUERY; }

    @Override
    public boolean hasDataIn() { return allocationLength != 0; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object).length(allocationLength).start(matches)
                .bits(immediateTracking ? CreateCollectionCommand.IMMEDIATE_TRACKING : 0)
                .continuationLength(continuationLength);
    }
}
