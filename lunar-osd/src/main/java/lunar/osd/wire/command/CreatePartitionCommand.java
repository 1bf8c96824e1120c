package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * CREATE PARTITION.
 *
 * @param common common fields
 * @param partition requested Partition_ID; 0 if the device chooses
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record CreatePartitionCommand(CommonFields common, long partition, long continuationLength)
        implements
        OsdCdb {
    public CreatePartitionCommand {
        common.checkContinuation(continuationLength);
    }

    static CreatePartitionCommand decode(CdbReader cdb) throws InvalidCdbException {
        return new CreatePartitionCommand(cdb.common(), cdb.partition().partition(),
                cdb.continuationLength());
    }

    @Override
    public ServiceAction action() { return ServiceAction.CREATE_PARTITION; }

    @Override
    public ObjectId object() { return ObjectId.ofPartition(partition); }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object()).continuationLength(continuationLength);
    }
}
