package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * OBJECT STRUCTURE CHECK: checks the root or a partition. OSD-2 only.
 *
 * @param common common fields
 * @param partition Partition_ID; 0 for the root
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record StructureCheckCommand(CommonFields common, long partition, long continuationLength)
        implements
        OsdCdb {
    public StructureCheckCommand {
        common.check(ServiceAction.OBJECT_STRUCTURE_CHECK,
                EnumSet.of(ServiceAction.OBJECT_STRUCTURE_CHECK));
        common.checkContinuation(continuationLength);
    }

    static StructureCheckCommand decode(CdbReader cdb) throws InvalidCdbException {
        return new StructureCheckCommand(cdb.common(), cdb.partition().partition(),
                cdb.continuationLength());
    }

    @Override
    public ServiceAction action() { return ServiceAction.OBJECT_STRUCTURE_CHECK; }

    @Override
    public ObjectId object() { return ObjectId.ofPartition(partition); }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object()).continuationLength(continuationLength);
    }
}
