package lunar.scsi.target.copy;

import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.CopyOperationInformation.Tail;
import lunar.scsi.copy.FailedSegmentDetails;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.ShortCopyStatus;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.ScsiTask;

/** Reports on copy operations: RECEIVE COPY RESULTS and related commands (SPC-5 sections 6.20 to 6.26, SBC-4 5.25). */
public final class CopyResultCommands {
    private static final int LIST_IDENTIFIER_AT = 2;
    private static final int COUNTER_MASK = 0xffff;
    /** Reported polling interval while a copy runs. */
    private static final int UPDATE_DELAY_MS = 100;

    private final LogicalUnit unit;
    private final BlockDevice device;

    public CopyResultCommands(CopyUnit copies) {
        unit = copies.unit();
        device = copies.device();
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.on(ReceiveCopyResults.class, Access.FREE, this::results);
    }

    private void results(ScsiTask task, ReceiveCopyResults command) {
        long most = command.allocationLength();
        if (command.serviceAction() == ReceiveCopyResults.OPERATING_PARAMETERS) {
            task.good(CopyLimits.operatingParameters(device).bytes(), most);
            return;
        }
        Optional<CopyOperation> found = CopyOperations.of(task.nexus(), unit)
                .find(command.listIdentifier());
        if (found.isEmpty()) {
            task.checkCondition(Sense.invalidFieldInCdb(LIST_IDENTIFIER_AT, 7));
            return;
        }
        CopyOperation operation = found.get();
        task.good(switch (command.serviceAction()) {
            case ReceiveCopyResults.COPY_STATUS_LID1 -> status(operation).bytes();
            case ReceiveCopyResults.FAILED_SEGMENT_DETAILS -> failure(operation);
            case ReceiveCopyResults.COPY_STATUS_LID4 ->
                information(operation, Tail.NOTHING).bytes();
            case ReceiveCopyResults.RECEIVE_DATA_LID4 ->
                information(operation, Tail.HELD_DATA).bytes();
            case ReceiveCopyResults.ROD_TOKEN_INFORMATION ->
                information(operation, Tail.ROD_TOKEN).bytes();
            default -> new byte[4]; // RECEIVE DATA (LID1): no segment holds data
        }, most);
    }

    private static ShortCopyStatus status(CopyOperation operation) {
        ShortCopyStatus.State state = switch (operation.state()) {
            case IN_FOREGROUND, IN_BACKGROUND -> ShortCopyStatus.State.IN_PROGRESS;
            case SUCCEEDED -> ShortCopyStatus.State.SUCCEEDED;
            case FAILED, TERMINATED -> ShortCopyStatus.State.FAILED;
        };
        return new ShortCopyStatus(state, operation.segments(), operation.bytes());
    }

    /** Returns the failure of an operation; AVAILABLE DATA is 0 if it has not failed. */
    private static byte[] failure(CopyOperation operation) {
        return operation.status() == Status.GOOD
                ? new byte[4]
                : new FailedSegmentDetails(operation.status().code(), operation.sense()).bytes();
    }

    private CopyOperationInformation information(CopyOperation operation, Tail tail) {
        boolean ofToken = operation.serviceAction() == PopulateToken.SERVICE_ACTION
                || operation.serviceAction() == WriteUsingToken.SERVICE_ACTION;
        long bytes = operation.bytes();
        return new CopyOperationInformation(tail, operation.serviceAction(), operation.state(),
                (int) (bytes / CopyService.PIECE_BYTES) & COUNTER_MASK,
                operation.hasEnded() ? 0 : UPDATE_DELAY_MS, operation.status().code(),
                ofToken ? CopyOperationInformation.IN_BLOCKS : CopyOperationInformation.IN_BYTES,
                ofToken ? bytes / device.blockSize() : bytes,
                operation.segments(), operation.sense(),
                tail == Tail.ROD_TOKEN ? operation.token() : Optional.empty());
    }
}
