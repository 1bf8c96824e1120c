package lunar.scsi.target.block;

import java.util.Optional;
import java.util.function.Consumer;
import lunar.scsi.AdditionalSense;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.primary.ReceiveDiagnosticResults;
import lunar.scsi.primary.SendDiagnostic;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ScsiTask;

/** Executes SEND DIAGNOSTIC and RECEIVE DIAGNOSTIC RESULTS (SPC-5 sections 6.42 and 6.31). */
final class DiagnosticCommands {
    /** Supported Diagnostic Pages page, the only supported page. */
    private static final byte[] SUPPORTED_PAGES = {0, 0, 0, 1, 0};
    private static final int MAX_LIST_BYTES = 4096;

    private final DiskUnit disk;
    private final SelfTest selfTest;

    DiagnosticCommands(DiskUnit disk) {
        this.disk = disk;
        selfTest = disk.selfTest();
    }

    void register(CommandSet commands) {
        commands.add(CommandHandler.of(SendDiagnostic.class, Access.CONTROL, this::send)
                .withDataOut(send -> Math.min(send.parameterListLength(), MAX_LIST_BYTES))
                .passing((_, state) -> state == State.STANDBY).takingLong())
                .add(CommandHandler
                        .of(ReceiveDiagnosticResults.class, Access.INFORM, this::receive)
                        .passing((_, state) -> state == State.STANDBY));
    }

    private void send(ScsiTask task, SendDiagnostic command) {
        int code = command.selfTestCode();
        if (command.parameterListLength() != 0 && (code != 0 || command.selfTest())) {
            task.checkCondition(Sense.invalidFieldInCdb(3, 7));
            return;
        }
        if (command.selfTest()) {
            if (code != 0) {
                task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            } else {
                run(task, 0, false, false);
            }
            return;
        }
        switch (code) {
            case 0 -> takePage(task, command);
            case SendDiagnostic.BACKGROUND_SHORT -> run(task, code, false, true);
            case SendDiagnostic.BACKGROUND_EXTENDED -> run(task, code, true, true);
            case SendDiagnostic.FOREGROUND_SHORT -> run(task, code, false, false);
            case SendDiagnostic.FOREGROUND_EXTENDED -> run(task, code, true, false);
            case SendDiagnostic.ABORT_BACKGROUND -> {
                if (selfTest.abortBackground()) {
                    task.good();
                } else {
                    task.checkCondition(Sense.invalidFieldInCdb(1, 7));
                }
            }
            default -> task.checkCondition(Sense.invalidFieldInCdb(1, 7));
        }
    }

    /** Accepts the Supported Diagnostic Pages page, which RECEIVE DIAGNOSTIC RESULTS then returns. */
    private static void takePage(ScsiTask task, SendDiagnostic command) {
        var list = task.dataOut();
        if (command.parameterListLength() == 0) {
            task.good();
        } else if (!command.pageFormat()) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 4));
        } else if (list.byteSize() < 4) {
            task.checkCondition(InvalidParameterListException.length().sense());
        } else if (list.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0) != 0) {
            task.checkCondition(InvalidParameterListException.field(0).sense());
        } else {
            task.good();
        }
    }

    /** Runs a self-test; the unit continues to serve commands, even during a foreground test. */
    private void run(ScsiTask task, int code, boolean extended, boolean background) {
        Optional<Sense> obstacle = disk.medium().obstacle();
        if (obstacle.isPresent()) {
            task.checkCondition(obstacle.get());
        } else if (!selfTest.begin(code, background)) {
            task.checkCondition(
                    Sense.of(SenseKey.NOT_READY, AdditionalSense.SELF_TEST_IN_PROGRESS));
        } else if (background) {
            Thread.ofVirtual().name("lunar-self-test")
                    .start(() -> selfTest.run(extended, () -> false));
            task.good();
        } else {
            task.work(() -> ended(selfTest.run(extended, task::aborted)));
        }
    }

    private static Consumer<ScsiTask> ended(SelfTest.Outcome outcome) {
        return switch (outcome) {
            case PASSED -> ScsiTask::good;
            case FAILED -> task -> task.checkCondition(Sense.of(SenseKey.HARDWARE_ERROR,
                    AdditionalSense.LOGICAL_UNIT_FAILED_SELF_TEST));
            case ABORTED, ABORTED_OTHERWISE, IN_PROGRESS -> task -> task.checkCondition(
                    Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE));
        };
    }

    private void receive(ScsiTask task, ReceiveDiagnosticResults command) {
        if (command.pageValid() && command.page() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(2, 7));
        } else {
            task.good(SUPPORTED_PAGES, command.allocationLength());
        }
    }
}
