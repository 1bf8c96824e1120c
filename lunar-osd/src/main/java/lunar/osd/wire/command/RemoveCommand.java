package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * REMOVE, REMOVE PARTITION and REMOVE COLLECTION.
 *
 * <pre>
 * byte 11: 0 FCR of REMOVE COLLECTION   2..0 remove scope of REMOVE PARTITION (OSD-2): 0 if empty, 1 with its contents
 * </pre>
 *
 * @param action which of these
 * @param common common fields
 * @param object what to remove
 * @param force whether to remove a collection that has members, which remain, or a partition with its contents; false
 *        for REMOVE, and for REMOVE PARTITION in OSD-1
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record RemoveCommand(ServiceAction action, CommonFields common, ObjectId object,
        boolean force, long continuationLength) implements OsdCdb {
    private static final Set<ServiceAction> ACTIONS = EnumSet.of(ServiceAction.REMOVE,
            ServiceAction.REMOVE_PARTITION, ServiceAction.REMOVE_COLLECTION);

    private static final int FORCE = 1;
    private static final int SCOPE_MASK = 7;
    private static final int SCOPE_BIT = 2;

    public RemoveCommand {
        common.check(action, ACTIONS);
        common.checkContinuation(continuationLength);
        boolean never = action == ServiceAction.REMOVE;
        boolean notInOsd1 = action == ServiceAction.REMOVE_PARTITION
                && common.version() == OsdVersion.OSD_1;
        if (force && (never || notInOsd1)) {
            throw new IllegalArgumentException(action + " by force in " + common.version());
        }
    }

    static RemoveCommand decode(CdbReader cdb) throws InvalidCdbException {
        boolean osd2 = cdb.common().version() == OsdVersion.OSD_2;
        boolean force = switch (cdb.action()) {
            case REMOVE_COLLECTION -> cdb.bit(FORCE);
            case REMOVE_PARTITION -> osd2 && scope(cdb) == FORCE;
            default -> false;
        };
        return new RemoveCommand(cdb.action(), cdb.common(),
                cdb.action() == ServiceAction.REMOVE_PARTITION ? cdb.partition() : cdb.object(),
                force, cdb.continuationLength());
    }

    private static int scope(CdbReader cdb) throws InvalidCdbException {
        int scope = cdb.bits(SCOPE_MASK);
        if (scope > FORCE) {
            throw InvalidCdbException.field(CdbLayout.FORMAT_AT, SCOPE_BIT);
        }
        return scope;
    }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action, common, object).bits(force ? FORCE : 0)
                .continuationLength(continuationLength);
    }
}
