package lunar.scsi.target.copy;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.copy.CopyOperationAbort;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.ReaderRule;
import lunar.scsi.target.ScsiTask;

/** Executes EXTENDED COPY and COPY OPERATION ABORT (SPC-5 sections 6.3 and 6.4). */
public final class ExtendedCopyCommands {
    private static final int LIST_IDENTIFIER_AT = 2;
    private static final int IMMED_AT = 15;

    private final CopyUnit copies;
    private final LogicalUnit unit;

    public ExtendedCopyCommands(CopyUnit copies) {
        this.copies = copies;
        unit = copies.unit();
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.add(CommandHandler.of(ExtendedCopy.class, Access.CONTROL, this::copy)
                .withDataOut(copy -> Math.min(copy.parameterListLength(),
                        CopyLimits.MAX_COPY_LIST_BYTES))
                .forReaders(ReaderRule.ALLOWED) // each segment checks whether its destination may be written
                .takingLong())
                .add(CommandHandler.of(CopyOperationAbort.class, Access.FREE, this::abort)
                        .takingLong());
    }

    private void copy(ScsiTask task, ExtendedCopy command) {
        if (command.parameterListLength() == 0) { // an empty list is not an error
            task.good();
            return;
        }
        try {
            if (task.dataOut().byteSize() < command.parameterListLength()) { // cut, or above the limit
                throw InvalidParameterListException.length();
            }
            var list = CopyParameterList.decode(task.dataOut(), command.longIdentifier(),
                    CopyLimits.DESCRIPTORS);
            if (list.immediate() && list.listIdUsage() == CopyParameterList.NO_IDENTIFIER) {
                throw InvalidParameterListException.field(IMMED_AT, 0); // not abortable
            }
            var operation = new CopyOperation(
                    command.longIdentifier() ? ExtendedCopy.LID4 : ExtendedCopy.LID1,
                    list.immediate());
            if (list.listIdUsage() != CopyParameterList.NO_IDENTIFIER) {
                CopyOperations.of(task.nexus(), unit).begin(list.listIdentifier(), operation);
            }
            var copy = new SegmentCopy(copies, task.nexus(), list, operation);
            CopyWork.start(task, unit, operation, list.immediate(), copy::run);
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        } catch (CopyException e) {
            CopyWork.end(task, e);
        }
    }

    /** Aborts an operation; the task ends after the operation has, so that nothing is written afterwards. */
    private void abort(ScsiTask task, CopyOperationAbort command) {
        Optional<CopyOperation> operation = CopyOperations.of(task.nexus(), unit)
                .find(command.listIdentifier());
        if (operation.isEmpty()) {
            task.checkCondition(Sense.invalidFieldInCdb(LIST_IDENTIFIER_AT, 7));
            return;
        }
        operation.get().cancel();
        var given = new CompletableFuture<Void>();
        task.whenAborted(() -> given.complete(null));
        task.work(() -> {
            CompletableFuture.anyOf(operation.get().ended(), given).join();
            return ScsiTask::good;
        });
    }
}
