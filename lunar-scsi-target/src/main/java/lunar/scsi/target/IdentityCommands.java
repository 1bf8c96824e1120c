package lunar.scsi.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.primary.IdentifyingInformation;
import lunar.scsi.primary.ReportIdentifyingInformation;
import lunar.scsi.primary.ReportTimestamp;
import lunar.scsi.primary.SetIdentifyingInformation;
import lunar.scsi.primary.SetTimestamp;
import lunar.scsi.primary.Timestamp;

/**
 * Executes the commands for identifying information, which is saved and which servers of the unit share, and for the
 * timestamp, which is each server's own and not saved (SPC-5 sections 6.33, 6.44, 6.38 and 6.46).
 */
public final class IdentityCommands {
    private static final String INFORMATION = "identifying-information";
    private static final String TEXT = "identifying-text";
    /** Larger than every accepted length, so that the command rejects an oversized list without reading all of it. */
    private static final int MAX_LIST_BYTES = 4096;

    private static final UnitState.Format<Bytes> FORMAT = new UnitState.Format<>() {
        @Override
        public byte[] encode(Bytes state) { return state.toArray(); }

        @Override
        public Bytes decode(byte[] saved) { return Bytes.of(saved); }
    };

    /** Device clock: the machine's clock plus the offset set by SET TIMESTAMP. */
    private record Clock(int origin, long aheadMs) {}

    private final LogicalUnit unit;
    private final LongSupplier clockMs;
    private final UnitState<Bytes> information;
    private final UnitState<Bytes> text;
    private volatile Clock clock = new Clock(Timestamp.SET_BY_OTHER_MEANS, 0);

    /**
     * Loads the saved identifying information.
     *
     * @param clockMs milliseconds since 1970
     * @throws IOException if the saved state cannot be read
     */
    public IdentityCommands(LogicalUnit unit, StateStore store, LongSupplier clockMs)
            throws IOException {
        this.unit = unit;
        this.clockMs = clockMs;
        information = new UnitState<>(store, INFORMATION, Bytes.EMPTY, FORMAT);
        text = new UnitState<>(store, TEXT, Bytes.EMPTY, FORMAT);
    }

    /**
     * Begins to follow other servers that share the unit.
     *
     * @throws IOException when what they have saved cannot be read
     */
    public void begin() throws IOException {
        information.begin(this::follow);
        text.begin(this::follow);
    }

    private CompletableFuture<Void> follow(Bytes before, Bytes after) {
        if (!after.equals(before)) {
            unit.establish(AdditionalSense.DEVICE_IDENTIFIER_CHANGED);
        }
        return CompletableFuture.completedFuture(null);
    }

    /** Follows no more changes of other servers. */
    public void end() {
        information.end();
        text.end();
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.on(ReportIdentifyingInformation.class, Access.FREE, this::report)
                .on(SetIdentifyingInformation.class, Access.CONTROL,
                        set -> Math.min(set.parameterListLength(), MAX_LIST_BYTES), this::set)
                .on(ReportTimestamp.class, Access.FREE, this::reportTimestamp)
                .on(SetTimestamp.class, Access.CONTROL,
                        set -> Math.min(set.parameterListLength(), MAX_LIST_BYTES),
                        this::setTimestamp);
    }

    private void report(ScsiTask task, ReportIdentifyingInformation command) {
        long length = command.allocationLength();
        switch (command.type()) {
            case IdentifyingInformation.PERIPHERAL_DEVICE -> task
                    .good(new IdentifyingInformation(information.value()).bytes(), length);
            case IdentifyingInformation.PERIPHERAL_DEVICE_TEXT -> task
                    .good(new IdentifyingInformation(text.value()).bytes(), length);
            case IdentifyingInformation.SUPPORTED -> task
                    .good(IdentifyingInformation.supported().bytes(), length);
            default -> task.checkCondition(Sense.invalidFieldInCdb(10, 7));
        }
    }

    private void set(ScsiTask task, SetIdentifyingInformation command) {
        boolean isText = command.type() == IdentifyingInformation.PERIPHERAL_DEVICE_TEXT;
        if (!isText && command.type() != IdentifyingInformation.PERIPHERAL_DEVICE) {
            task.checkCondition(Sense.invalidFieldInCdb(10, 7));
            return;
        }
        if (command.parameterListLength() > (isText
                ? IdentifyingInformation.MAX_TEXT_LENGTH
                : IdentifyingInformation.MAX_LENGTH)) {
            task.checkCondition(Sense.invalidFieldInCdb(6, 7));
            return;
        }
        MemorySegment list = task.dataOut();
        if (list.byteSize() < command.parameterListLength()) {
            task.checkCondition(InvalidParameterListException.length().sense());
            return;
        }
        Bytes wanted = Bytes.of(list);
        task.work(() -> {
            var made = (isText ? text : information).change(_ -> wanted, (_, _) -> true);
            return then -> {
                unit.establishForOthers(made == null || made.overtaken() ? null : then.nexus(),
                        AdditionalSense.DEVICE_IDENTIFIER_CHANGED);
                then.good();
            };
        });
    }

    private void reportTimestamp(ScsiTask task, ReportTimestamp command) {
        Clock now = clock;
        task.good(new Timestamp(now.origin(),
                (clockMs.getAsLong() + now.aheadMs()) & 0xffff_ffff_ffffL).bytes(),
                command.allocationLength());
    }

    private void setTimestamp(ScsiTask task, SetTimestamp command) {
        if (command.parameterListLength() == 0) {
            task.good(); // an empty list is not an error
            return;
        }
        try {
            Timestamp wanted = Timestamp.decode(task.dataOut());
            clock = new Clock(Timestamp.SET_BY_COMMAND,
                    wanted.milliseconds() - clockMs.getAsLong());
            unit.establishForOthers(task.nexus(), AdditionalSense.TIMESTAMP_CHANGED);
            task.good();
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        }
    }
}
