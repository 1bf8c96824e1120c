package lunar.initiator.internal.retry;

import java.util.Optional;
import lunar.block.AbortedException;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.NoSpaceException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import lunar.initiator.SenseException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;

/** Maps SCSI status and sense data to storage exceptions; the only place that does so. */
public final class SenseMapping {
    private static final int ILLEGAL_OPCODE = 0x20;
    private static final int ILLEGAL_LBA = 0x21;
    private static final int NO_SUCH_UNIT = 0x25;
    private static final int NOT_READY = 0x04;
    private static final int CANNOT_BECOME_READY_BY_ITSELF = 0x02;
    private static final int MANUAL_INTERVENTION = 0x03;
    private static final int STANDBY = 0x0b;
    private static final int UNAVAILABLE = 0x0c;

    /** ASC of ABORTED COMMAND: protection information is wrong, and stays so. */
    private static final int PROTECTION_CHECK_FAILED = 0x10;

    /** Meaning of a unit's answer for a command that may be sent again. */
    enum Disposition {
        /** It has not been processed: the unit has reported something else. */
        ATTENTION,
        /** It has not been processed, and may be later. */
        BUSY,
        /** It has been ended, and may have been performed in whole, in part or not at all. */
        ABORTED,
        /** It has been performed, or would end in the same way again. */
        FINAL
    }

    private SenseMapping() {}

    /** Returns the meaning of an answer for a command that may be sent again. */
    static Disposition disposition(int status, Bytes senseData) {
        return Status.of(status).map(known -> switch (known) {
            case CHECK_CONDITION -> senseData.length() == 0
                    ? Disposition.FINAL
                    : disposition(sense(senseData));
            case BUSY, TASK_SET_FULL, ACA_ACTIVE -> Disposition.BUSY;
            case TASK_ABORTED, COMMAND_TERMINATED -> Disposition.ABORTED;
            case GOOD, CONDITION_MET, INTERMEDIATE, INTERMEDIATE_CONDITION_MET,
                    RESERVATION_CONFLICT ->
                Disposition.FINAL;
        }).orElse(Disposition.FINAL);
    }

    private static Disposition disposition(Sense sense) {
        if (sense.deferred()) {
            return Disposition.ATTENTION;
        }
        return switch (sense.key()) {
            case UNIT_ATTENTION -> Disposition.ATTENTION;
            case NOT_READY -> passes(sense.additional()) ? Disposition.BUSY : Disposition.FINAL;
            case ABORTED_COMMAND -> sense.additional().asc() == PROTECTION_CHECK_FAILED
                    ? Disposition.FINAL
                    : Disposition.ABORTED;
            default -> Disposition.FINAL;
        };
    }

    /**
     * Whether a command has succeeded, even with warnings. A command that ends with a deferred error was not executed
     * (SPC-5 section 4.4.7.5), and sense data of an unknown format do not count as success.
     */
    public static boolean isSuccess(int status, Bytes senseData) {
        if (status == Status.GOOD.code() || status == Status.CONDITION_MET.code()) {
            return true;
        }
        if (status != Status.CHECK_CONDITION.code() || senseData.length() == 0) {
            return false;
        }
        Sense sense = sense(senseData);
        return !sense.deferred() && switch (sense.key()) {
            case NO_SENSE -> Sense.isKnownFormat(senseData.segment());
            case RECOVERED_ERROR, COMPLETED -> true;
            default -> false;
        };
    }

    /**
     * Whether a command has failed because writes that were acknowledged earlier may be lost. A medium error of
     * SYNCHRONIZE CACHE can mean nothing else. For other commands it can be an error of their own blocks: only Lunar's
     * targets tell the difference.
     *
     * @param synchronizesCache whether the command was SYNCHRONIZE CACHE
     * @param isLunar whether the target is known to be Lunar's
     */
    public static boolean reportsLostWrites(int status, Bytes senseData, boolean synchronizesCache,
            boolean isLunar) {
        if (status != Status.CHECK_CONDITION.code() || senseData.length() == 0) {
            return false;
        }
        Sense sense = sense(senseData);
        return synchronizesCache
                ? sense.key() == SenseKey.MEDIUM_ERROR
                : isLunar && sense.isLostWrites();
    }

    public static Sense sense(Bytes senseData) { return Sense.decode(senseData.segment()); }

    /** Whether the unit only reports an earlier event, and has not processed the command yet. */
    public static boolean isUnitAttention(int status, Bytes senseData) {
        if (status != Status.CHECK_CONDITION.code() || senseData.length() == 0) {
            return false;
        }
        Sense sense = sense(senseData);
        return sense.key() == SenseKey.UNIT_ATTENTION || sense.deferred();
    }

    /**
     * Returns the failure of a command that did not succeed.
     *
     * @param what the command and where it went, for the message
     */
    public static StorageException failure(int status, Bytes senseData, String what) {
        Optional<Status> known = Status.of(status);
        if (known.isEmpty()) {
            return new AbortedException(
                    what + ": unknown status " + Integer.toHexString(status) + "h", null);
        }
        String message = what + ": " + known.get();
        return switch (known.get()) {
            case CHECK_CONDITION -> senseData.length() == 0
                    ? new AbortedException(message + " without sense data", null)
                    : failure(sense(senseData), what);
            case BUSY, TASK_SET_FULL, ACA_ACTIVE -> new BusyException(message, null);
            case RESERVATION_CONFLICT -> new ReservationConflictException(message, null);
            case TASK_ABORTED, COMMAND_TERMINATED, INTERMEDIATE, INTERMEDIATE_CONDITION_MET, GOOD,
                    CONDITION_MET ->
                new AbortedException(message, null);
        };
    }

    private static StorageException failure(Sense sense, String what) {
        String message = what + ": " + sense;
        var cause = new SenseException(sense);
        return switch (sense.key()) {
            case NOT_READY -> notReady(cause, message);
            case MEDIUM_ERROR, HARDWARE_ERROR, BLANK_CHECK, VENDOR_SPECIFIC ->
                new MediumException(message, cause);
            case ILLEGAL_REQUEST -> illegal(cause, message);
            case DATA_PROTECT -> sense.additional().equals(AdditionalSense.SPACE_ALLOCATION_FAILED)
                    ? new NoSpaceException(message, cause)
                    : new WriteProtectedException(message, cause);
            case MISCOMPARE ->
                new MiscompareException(message, sense.information().orElse(0), cause);
            case VOLUME_OVERFLOW -> new OutOfRangeException(message, cause);
            case UNIT_ATTENTION, ABORTED_COMMAND, COPY_ABORTED, NO_SENSE, RECOVERED_ERROR, EQUAL,
                    COMPLETED ->
                new AbortedException(message, cause);
        };
    }

    /** Returns a busy failure if waiting helps, otherwise one of a device that is gone. */
    private static StorageException notReady(SenseException cause, String message) {
        return passes(cause.sense().additional())
                ? new BusyException(message, cause)
                : new DeviceGoneException(message, cause);
    }

    /** Whether a unit that is not ready becomes ready by itself. */
    private static boolean passes(AdditionalSense additional) {
        return additional.asc() == NOT_READY && switch (additional.ascq()) {
            case CANNOT_BECOME_READY_BY_ITSELF, MANUAL_INTERVENTION, STANDBY, UNAVAILABLE -> false;
            default -> true;
        };
    }

    private static StorageException illegal(SenseException cause, String message) {
        return switch (cause.sense().additional().asc()) {
            case ILLEGAL_OPCODE -> new NotSupportedException(message, cause);
            case ILLEGAL_LBA -> new OutOfRangeException(message, cause);
            case NO_SUCH_UNIT -> new DeviceGoneException(message, cause);
            default -> new InvalidRequestException(message, cause);
        };
    }

    /** Returns the failure for an error of the target's iSCSI layer: there is no status (RFC 7143 section 11.4.3). */
    public static StorageException targetFailure(int response, String what) {
        return new AbortedException(what + ": the target reports failure, response "
                + Integer.toHexString(response) + "h", null);
    }
}
