package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;

/**
 * PERFORM TASK MANAGEMENT FUNCTION: a task management function, protected by a capability.
 *
 * <pre>
 * 32 allocation length (2)   39 function   40 task tag (8)
 * </pre>
 *
 * @param common common fields
 * @param object partition and object that the capability is for
 * @param allocationLength most bytes of the reply, unsigned 16 bits
 * @param function code of a function: 01h abort task, 02h abort task set, 04h clear task set, 08h logical unit reset,
 *        10h I_T nexus reset, 40h clear ACA, 80h query task
 * @param taskTag of the task that is meant
 */
public record PerformTaskManagementCommand(CommonFields common, ObjectId object,
        int allocationLength, int function, long taskTag) implements OsdCdb {
    private static final int ALLOCATION_LENGTH_AT = 32;
    private static final int FUNCTION_AT = 39;
    private static final int TASK_TAG_AT = 40;

    public PerformTaskManagementCommand {
        Fields.check("allocationLength", allocationLength, 0xffff);
        Fields.check("function", function, 0xff);
    }

    static PerformTaskManagementCommand decode(CdbReader cdb) {
        return new PerformTaskManagementCommand(cdb.common(), cdb.object(),
                cdb.int16(ALLOCATION_LENGTH_AT), cdb.int8(FUNCTION_AT), cdb.int64(TASK_TAG_AT));
    }

    @Override
    public ServiceAction action() { return ServiceAction.PERFORM_TASK_MANAGEMENT_FUNCTION; }

    @Override
    public boolean hasDataIn() { return allocationLength != 0; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object)
                .int16(ALLOCATION_LENGTH_AT, allocationLength)
                .int8(FUNCTION_AT, function).int64(TASK_TAG_AT, taskTag);
    }
}
