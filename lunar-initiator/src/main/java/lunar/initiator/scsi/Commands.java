package lunar.initiator.scsi;

import java.util.Set;
import lunar.block.StorageException;
import lunar.scsi.command.ReportSupportedOperationCodes;
import lunar.scsi.command.ReportSupportedTaskManagementFunctions;
import lunar.scsi.command.SupportedOperationCode;
import lunar.scsi.command.SupportedOperationCodes;
import lunar.scsi.command.TaskManagementSupport;

/** Queries the commands and task management functions that a unit supports (SPC-5 sections 6.34 and 6.35). */
public final class Commands {
    private static final int FIRST_BYTES = 4096;
    private static final int MAX_BYTES = 1 << 20;
    private static final int ONE_BYTES = 4 + 260 + 12;
    private static final int FUNCTIONS_BYTES = 16;

    private final Calls calls;

    Commands(Calls calls) { this.calls = calls; }

    /** Returns all commands, with timeouts where the unit reports them. */
    public SupportedOperationCodes all() throws StorageException {
        return calls.ask(
                bytes -> new ReportSupportedOperationCodes(true, ReportSupportedOperationCodes.ALL,
                        0, 0, bytes),
                FIRST_BYTES, MAX_BYTES, Lengths.in32(0, 4), SupportedOperationCodes::decode);
    }

    /**
     * Returns a command that has no service actions.
     *
     * @throws lunar.block.InvalidRequestException if it has some
     */
    public SupportedOperationCode one(int opcode) throws StorageException {
        return one(ReportSupportedOperationCodes.ONE_OPCODE, opcode, 0);
    }

    /**
     * Returns a command that has service actions.
     *
     * @throws lunar.block.InvalidRequestException if it has none
     */
    public SupportedOperationCode one(int opcode, int serviceAction) throws StorageException {
        return one(ReportSupportedOperationCodes.ONE_SERVICE_ACTION, opcode, serviceAction);
    }

    /** REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS. */
    public Set<TaskManagementSupport.Function> taskManagement() throws StorageException {
        return calls.ask(new ReportSupportedTaskManagementFunctions(false, FUNCTIONS_BYTES),
                FUNCTIONS_BYTES, TaskManagementSupport::decode).functions();
    }

    private SupportedOperationCode one(int options, int opcode, int serviceAction)
            throws StorageException {
        return calls.ask(new ReportSupportedOperationCodes(true, options, opcode, serviceAction,
                ONE_BYTES), ONE_BYTES, SupportedOperationCode::decode);
    }
}
