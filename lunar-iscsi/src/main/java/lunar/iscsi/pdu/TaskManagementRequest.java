package lunar.iscsi.pdu;

import java.util.Optional;
import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * Task Management Function Request (RFC 7143 section 11.5).
 *
 * @param function the raw code, because an undefined one has a response: function not supported
 * @param referencedTaskTag of the task to abort, reassign or query, else {@link Bhs#NO_TAG}
 * @param refCmdSn CmdSN of that task, for ABORT TASK
 * @param expDataSn ExpDataSN, for TASK REASSIGN
 */
public record TaskManagementRequest(boolean immediate, int function, Lun lun, int itt,
        int referencedTaskTag, int cmdSn, int expStatSn, int refCmdSn, int expDataSn)
        implements
        InitiatorPdu {
    public static final int OPCODE = 0x02;
    public static final int REFERENCED_TASK_TAG = 20;
    public static final int REF_CMD_SN = 32;
    public static final int EXP_DATA_SN = 36;

    private static final int FUNCTION_MASK = 0x7f;

    public TaskManagementRequest {
        if ((function & ~FUNCTION_MASK) != 0) {
            throw new IllegalArgumentException("task management function " + function);
        }
    }

    public static TaskManagementRequest decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "Task Management Function Request", "11.5");
        HeaderRule.requireTask(bhs, "Task Management Function Request", "11.2.1.8");
        // The Referenced Task Tag must be 0xffffffff for functions that refer to no task (section 11.5.4). Other
        // functions ignore it, so a value set by a peer is harmless.
        return new TaskManagementRequest(bhs.immediate(), bhs.flags() & FUNCTION_MASK,
                new Lun(bhs.lun()), bhs.itt(), bhs.int32(REFERENCED_TASK_TAG), bhs.int32(CMD_SN),
                bhs.int32(EXP_STAT_SN), bhs.int32(REF_CMD_SN), bhs.int32(EXP_DATA_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    /** The function, if an RFC defines one with the code. */
    public Optional<TaskManagementFunction> knownFunction() {
        return TaskManagementFunction.of(function);
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, immediate, HeaderRule.FINAL | function).int64(LUN, lun.value())
                .int32(ITT, itt).int32(REFERENCED_TASK_TAG, referencedTaskTag).int32(CMD_SN, cmdSn)
                .int32(EXP_STAT_SN, expStatSn).int32(REF_CMD_SN, refCmdSn)
                .int32(EXP_DATA_SN, expDataSn);
    }
}
