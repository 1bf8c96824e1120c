package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * LIST: partitions, or user objects of a partition. LIST COLLECTION: collections of a partition, or members of a
 * collection. The order is ascending, the only one that is defined.
 *
 * <pre>
 * byte 11: 6 LIST_ATTR (OSD-2)   3..0 sort order
 * </pre>
 *
 * @param action which of these
 * @param common common fields
 * @param object LIST: the root for its partitions, or a partition; LIST COLLECTION: a partition for its collections, or
 *        a collection
 * @param allocationLength most bytes of the reply, unsigned
 * @param initialId smallest identifier to return; the continuation identifier to go on with a list
 * @param listIdentifier of the list to go on with, unsigned 32 bits; 0 for a new one
 * @param withAttributes LIST_ATTR: whether each identifier comes with attributes; false in OSD-1
 */
public record ListCommand(ServiceAction action, CommonFields common, ObjectId object,
        long allocationLength, long initialId, long listIdentifier, boolean withAttributes)
        implements
        OsdCdb {
    private static final Set<ServiceAction> ACTIONS = EnumSet.of(ServiceAction.LIST,
            ServiceAction.LIST_COLLECTION);

    private static final int LIST_ATTRIBUTES = 0x40;
    private static final int SORT_ORDER_MASK = 0x0f;
    private static final int SORT_ORDER_BIT = 3;

    public ListCommand {
        common.check(action, ACTIONS);
        Fields.check("listIdentifier", listIdentifier, Fields.UINT32_MAX);
        if (withAttributes && common.version() == OsdVersion.OSD_1) {
            throw new IllegalArgumentException(action + " with attributes in OSD-1");
        }
    }

    static ListCommand decode(CdbReader cdb) throws InvalidCdbException {
        if (cdb.bit(SORT_ORDER_MASK)) {
            throw InvalidCdbException.field(CdbLayout.FORMAT_AT, SORT_ORDER_BIT);
        }
        return new ListCommand(cdb.action(), cdb.common(),
                cdb.action() == ServiceAction.LIST ? cdb.partition() : cdb.object(), cdb.length(),
                cdb.start(), cdb.listIdentifier(),
                cdb.common().version() == OsdVersion.OSD_2 && cdb.bit(LIST_ATTRIBUTES));
    }

    @Override
    public boolean hasDataIn() { return allocationLength != 0; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action, common, object).length(allocationLength).start(initialId)
                .listIdentifier(listIdentifier).bits(withAttributes ? LIST_ATTRIBUTES : 0);
    }
}
