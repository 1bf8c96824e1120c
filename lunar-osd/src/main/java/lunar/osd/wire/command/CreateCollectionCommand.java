package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * CREATE COLLECTION, and CREATE USER TRACKING COLLECTION, which copies the members of another collection.
 *
 * @param action which of these
 * @param common common fields
 * @param object partition and requested Collection_Object_ID; object 0 if the device chooses
 * @param source Collection_Object_ID of the source; 0 for CREATE COLLECTION
 * @param immediateTracking IMMED_TR; false for CREATE COLLECTION
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record CreateCollectionCommand(ServiceAction action, CommonFields common, ObjectId object,
        long source, boolean immediateTracking, long continuationLength) implements OsdCdb {
    static final int IMMEDIATE_TRACKING = 0x80;

    private static final Set<ServiceAction> ACTIONS = EnumSet
            .of(ServiceAction.CREATE_COLLECTION, ServiceAction.CREATE_USER_TRACKING_COLLECTION);

    public CreateCollectionCommand {
        common.check(action, ACTIONS);
        common.checkContinuation(continuationLength);
        if (action == ServiceAction.CREATE_COLLECTION && (source != 0 || immediateTracking)) {
            throw new IllegalArgumentException(action + " with a source or tracking");
        }
    }

    static CreateCollectionCommand decode(CdbReader cdb) throws InvalidCdbException {
        boolean tracking = cdb.action() == ServiceAction.CREATE_USER_TRACKING_COLLECTION;
        return new CreateCollectionCommand(cdb.action(), cdb.common(), cdb.object(),
                tracking ? cdb.start() : 0, tracking && cdb.bit(IMMEDIATE_TRACKING),
                cdb.continuationLength());
    }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action, common, object).start(source)
                .bits(immediateTracking ? IMMEDIATE_TRACKING : 0)
                .continuationLength(continuationLength);
    }
}
