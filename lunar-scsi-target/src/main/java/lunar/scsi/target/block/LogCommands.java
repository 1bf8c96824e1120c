package lunar.scsi.target.block;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import lunar.block.BlockDevice;
import lunar.block.Usage;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.log.LogPage;
import lunar.scsi.log.LogParameter;
import lunar.scsi.log.LogSelect;
import lunar.scsi.log.LogSense;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ScsiTask;

/**
 * Executes LOG SENSE and LOG SELECT (SPC-5 sections 6.9 and 6.8). Nothing is saved, and counters have no thresholds:
 * the only values are the current cumulative ones.
 */
final class LogCommands {
    /** Parameter codes of the error counter pages (SPC-5 section 7.3.7). */
    private static final int BYTES_PROCESSED = 5;
    private static final int UNCORRECTED_ERRORS = 6;
    /** Parameter code of the start-stop cycle counter page. */
    private static final int ACCUMULATED_STARTS = 4;
    /** SCOPE of a resource count: this logical unit alone (SBC-4 section 6.4.6). */
    private static final byte THIS_UNIT = 1;
    /** Temperature value for "not known". */
    private static final byte NO_TEMPERATURE = (byte) 0xff;
    private static final int SELF_TEST_RESULTS = 20;
    private static final int SELF_TEST_BYTES = 16;

    private final DiskUnit disk;
    private final BlockDevice device;
    private final LogCounters counters;
    private final SelfTest selfTest;
    private final SortedMap<Integer, Supplier<List<LogParameter>>> pages = new TreeMap<>();

    LogCommands(DiskUnit disk) {
        this.disk = disk;
        selfTest = disk.selfTest();
        device = disk.device();
        counters = disk.counters();
        pages.put(LogPage.WRITE_ERRORS, () -> errors(counters.writes));
        pages.put(LogPage.READ_ERRORS, () -> errors(counters.reads));
        pages.put(LogPage.VERIFY_ERRORS, () -> errors(counters.verifies));
        if (device.usage().isPresent()) {
            pages.put(LogPage.PROVISIONING, this::provisioning);
        }
        pages.put(LogPage.START_STOP, () -> List.of(new LogParameter(ACCUMULATED_STARTS, 0x23,
                Bytes.of(ByteBuffer.allocate(4).putInt((int) counters.starts.sum()).array()))));
        pages.put(LogPage.SELF_TEST_RESULTS, this::selfTests);
        pages.put(LogPage.INFORMATIONAL_EXCEPTIONS, this::exceptions);
    }

    void register(CommandSet commands) {
        commands.add(CommandHandler.of(LogSense.class, Access.FREE, this::sense)
                .passing((_, state) -> state == State.STANDBY))
                .add(CommandHandler.of(LogSelect.class, Access.CONTROL, this::select)
                        .passing((_, state) -> state == State.STANDBY));
    }

    private void sense(ScsiTask task, LogSense command) {
        if (command.savePages()) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 0));
            return;
        }
        if (command.page() == LogPage.SUPPORTED_PAGES) {
            list(task, command);
            return;
        }
        Supplier<List<LogParameter>> page = pages.get(command.page());
        if (page == null) {
            task.checkCondition(Sense.invalidFieldInCdb(2, 5));
        } else if (command.subpage() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(3, 7));
        } else if (command.control() != LogSense.CUMULATIVE) {
            task.checkCondition(Sense.invalidFieldInCdb(2, 7));
        } else {
            List<LogParameter> parameters = page.get().stream()
                    .filter(parameter -> parameter.code() >= command.parameterPointer()).toList();
            if (parameters.isEmpty()) {
                task.checkCondition(Sense.invalidFieldInCdb(5, 7));
            } else {
                task.good(LogPage.of(command.page(), parameters).bytes(),
                        command.allocationLength());
            }
        }
    }

    /** Lists the supported pages; with subpage FFh also their subpages, which only the listing pages have. */
    private void list(ScsiTask task, LogSense command) {
        boolean subpages = command.subpage() == LogPage.ALL_SUBPAGES;
        if (!subpages && command.subpage() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(3, 7));
            return;
        }
        if (command.parameterPointer() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(5, 7));
            return;
        }
        var content = new ByteArrayOutputStream();
        content.write(LogPage.SUPPORTED_PAGES);
        if (subpages) {
            content.write(0);
            content.write(LogPage.SUPPORTED_PAGES);
            content.write(LogPage.ALL_SUBPAGES);
        }
        for (int page : pages.keySet()) {
            content.write(page);
            if (subpages) {
                content.write(0);
            }
        }
        task.good(new LogPage(LogPage.SUPPORTED_PAGES, command.subpage(),
                Bytes.of(content.toByteArray())).bytes(), command.allocationLength());
    }

    private List<LogParameter> errors(LogCounters.Family family) {
        return List.of(
                LogParameter.counter(BYTES_PROCESSED, family.blocks() * device.blockSize()),
                LogParameter.counter(UNCORRECTED_ERRORS, family.errors()));
    }

    private List<LogParameter> provisioning() {
        Optional<Usage> usage = device.usage();
        if (usage.isEmpty()) {
            return List.of();
        }
        return List.of(resource(1, Thresholds.sets(device, usage.get().availableBytes())),
                resource(2, Thresholds.sets(device, usage.get().usedBytes())));
    }

    private static LogParameter resource(int code, long sets) {
        return LogParameter.list(code, ByteBuffer.allocate(8).putInt((int) sets).put(THIS_UNIT)
                .array());
    }

    /** Returns twenty results; results of tests that have not run yet are zeroes (SPC-5 section 7.3.17). */
    private List<LogParameter> selfTests() {
        List<SelfTest.Result> results = selfTest.results();
        var parameters = new ArrayList<LogParameter>();
        for (int i = 0; i < SELF_TEST_RESULTS; i++) {
            var value = ByteBuffer.allocate(SELF_TEST_BYTES);
            if (i < results.size()) {
                SelfTest.Result result = results.get(i);
                boolean failed = result.outcome() == SelfTest.Outcome.FAILED;
                value.put((byte) (result.selfTestCode() << 5 | result.outcome().code()))
                        .put((byte) 0).putShort((short) 0).putLong(result.lba())
                        .put((byte) (failed ? 4 : 0))
                        .put((byte) (failed
                                ? AdditionalSense.LOGICAL_UNIT_FAILED_SELF_TEST.asc()
                                : 0))
                        .put((byte) (failed
                                ? AdditionalSense.LOGICAL_UNIT_FAILED_SELF_TEST.ascq()
                                : 0));
            }
            parameters.add(LogParameter.list(i + 1, value.array()));
        }
        return parameters;
    }

    private List<LogParameter> exceptions() {
        AdditionalSense additional = disk.modes().simulatedException() == 0
                ? AdditionalSense.NONE
                : AdditionalSense.FAILURE_PREDICTION_FALSE;
        return List.of(LogParameter.list(0, (byte) additional.asc(), (byte) additional.ascq(),
                NO_TEMPERATURE, (byte) 0));
    }

    /** Resets the counters of one page, or of all, to zero; no other value can be set. */
    private void select(ScsiTask task, LogSelect command) {
        if (command.savePages()) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 0));
            return;
        }
        if (command.parameterListLength() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(7, 7));
            return;
        }
        if (command.subpage() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(3, 7));
            return;
        }
        if (command.page() != 0 && !pages.containsKey(command.page())) {
            task.checkCondition(Sense.invalidFieldInCdb(2, 5));
            return;
        }
        if (command.reset() || command.control() == LogSelect.DEFAULT_CUMULATIVE) {
            reset(command.page());
            disk.unit().establishForOthers(task.nexus(),
                    AdditionalSense.LOG_PARAMETERS_CHANGED);
        }
        task.good();
    }

    private void reset(int page) {
        boolean all = page == 0;
        if (all || page == LogPage.WRITE_ERRORS) {
            counters.writes.reset();
        }
        if (all || page == LogPage.READ_ERRORS) {
            counters.reads.reset();
        }
        if (all || page == LogPage.VERIFY_ERRORS) {
            counters.verifies.reset();
        }
    }
}
