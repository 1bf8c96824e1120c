package lunar.target.device;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lunar.scsi.CopyOperationAbort;
import lunar.scsi.CopyParameterList;
import lunar.scsi.ExtendedCopy;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;

/** EXTENDED COPY and COPY OPERATION ABORT (SPC-5 sections 6.3 and 6.4). */
final class ExtendedCopyCommands {
    private static final int LIST_IDENTIFIER_AT = 2;
    private static final int IMMED_AT = 15;

    private final ScsiTarget target;
    private final LogicalUnit unit;

    ExtendedCopyCommands(ScsiTarget target, LogicalUnit unit) {
        this.target = target;
        this.unit = unit;
    }

    void register(CommandSet commands) {
        commands.on(ExtendedCopy.class, Access.CONTROL,
                copy -> Math.min(copy.parameterListLength(), CopyLimits.MAX_COPY_LIST_BYTES),
                this::copy)
                .on(CopyOperationAbort.class, Access.FREE, this::abort);
    }

    private void copy(ScsiTask task, ExtendedCopy command) {
        if (command.parameterListLength() == 0) { // no error, and nothing to do
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
                throw InvalidParameterListException.field(IMMED_AT, 0); // it could be neither aborted nor counted
            }
            var operation = new CopyOperation(
                    command.longIdentifier() ? ExtendedCopy.LID4 : ExtendedCopy.LID1,
                    list.immediate());
            if (list.listIdUsage() != CopyParameterList.NO_IDENTIFIER) {
                task.nexus().copies(unit).begin(list.listIdentifier(), operation);
            }
            var copy = new SegmentCopy(target, unit, task.nexus(), list, operation);
            CopyWork.start(task, unit, operation, list.immediate(), copy::run);
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        } catch (CopyException e) {
            CopyWork.end(task, e);
        }
    }

    /** Ends when the operation has ended, so that nothing is written afterwards. */
    private void abort(ScsiTask task, CopyOperationAbort command) {
        Optional<CopyOperation> operation = task.nexus().copies(unit)
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
