package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * GET ATTRIBUTES and SET ATTRIBUTES of an object; GET MEMBER ATTRIBUTES, SET MEMBER ATTRIBUTES and REMOVE MEMBER
 * OBJECTS of a collection. Nothing but attributes is transferred.
 *
 * @param action which of these
 * @param common common fields
 * @param object any object; for commands of members, the collection
 * @param immediateTracking IMMED_TR; false for commands of one object
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record AttributesCommand(ServiceAction action, CommonFields common, ObjectId object,
        boolean immediateTracking, long continuationLength) implements OsdCdb {
    private static final Set<ServiceAction> MEMBER_ACTIONS = EnumSet.of(
            ServiceAction.GET_MEMBER_ATTRIBUTES, ServiceAction.SET_MEMBER_ATTRIBUTES,
            ServiceAction.REMOVE_MEMBER_OBJECTS);
    private static final Set<ServiceAction> OBJECT_ACTIONS = EnumSet.of(
            ServiceAction.GET_ATTRIBUTES, ServiceAction.SET_ATTRIBUTES);

    public AttributesCommand {
        common.check(action,
                MEMBER_ACTIONS.contains(action) ? MEMBER_ACTIONS : OBJECT_ACTIONS);
        common.checkContinuation(continuationLength);
        if (immediateTracking && OBJECT_ACTIONS.contains(action)) {
            throw new IllegalArgumentException(action + " with tracking");
        }
    }

    static AttributesCommand decode(CdbReader cdb) throws InvalidCdbException {
        return new AttributesCommand(cdb.action(), cdb.common(), cdb.object(),
                MEMBER_ACTIONS.contains(cdb.action())
                        && cdb.bit(CreateCollectionCommand.IMMEDIATE_TRACKING),
                cdb.continuationLength());
    }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action, common, object)
                .bits(immediateTracking ? CreateCollectionCommand.IMMEDIATE_TRACKING : 0)
                .continuationLength(continuationLength);
    }
}
