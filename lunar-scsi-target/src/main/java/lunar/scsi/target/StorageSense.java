package lunar.scsi.target;

import lunar.block.AbortedException;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.NoSpaceException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.OwnershipLostException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;

/** Maps device failures to status and sense data (SPC-5 section 4.5, SBC-4 section 4.18). */
public final class StorageSense {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private StorageSense() {}

    /** Ends a task after its device has failed. */
    public static void end(ScsiTask task, StorageException failure) {
        end(task, failure, of(task.request(), failure));
    }

    /** Like {@link #end(ScsiTask, StorageException)}, with sense data that the device type has completed. */
    public static void end(ScsiTask task, StorageException failure, Sense sense) {
        switch (failure) {
            case BusyException _ -> task.end(Status.BUSY);
            case ReservationConflictException _ -> task.end(Status.RESERVATION_CONFLICT);
            default -> {
                if (sense.key() == SenseKey.MEDIUM_ERROR
                        || sense.key() == SenseKey.HARDWARE_ERROR) {
                    task.server().failed(task);
                    warn(task, failure);
                } else if (failure instanceof NoSpaceException) {
                    warn(task, failure); // the host's administrator cannot see why
                }
                if (failure instanceof LostWritesException) {
                    task.server().lostWrites(task);
                }
                task.checkCondition(sense);
            }
        }
    }

    private static void warn(ScsiTask task, StorageException failure) {
        LOG.log(System.Logger.Level.WARNING, "LUN {0} of {1}: {2}", task.lun(), task.nexus(),
                failure.getMessage());
    }

    /**
     * Returns the sense data of a failed request. INFORMATION is the logical block in error (SBC-4 section 4.18.1), so
     * it is not set where several blocks may have failed: a host would discard a good block. A write with FUA may have
     * failed when the block was made stable, together with other blocks. The device's message may name a block, but by
     * the address of a lower layer.
     */
    private static Sense of(BlockRequest request, StorageException failure) {
        Sense sense = of(request.operation(), failure);
        return failure instanceof MediumException && request.blockCount() == 1 && !request.fua()
                ? sense.withInformation(request.lba())
                : sense;
    }

    /** Returns the sense data of a failed operation, without the block. */
    public static Sense of(BlockRequest.Operation operation, StorageException failure) {
        return switch (failure) {
            case MediumException _ -> Sense.of(SenseKey.MEDIUM_ERROR,
                    operation == BlockRequest.Operation.READ
                            ? AdditionalSense.UNRECOVERED_READ_ERROR
                            : AdditionalSense.WRITE_ERROR);
            case LostWritesException _ -> Sense.lostWrites(); // the affected blocks are not known
            case MiscompareException e -> Sense
                    .of(SenseKey.MISCOMPARE, AdditionalSense.MISCOMPARE_DURING_VERIFY)
                    .withInformation(e.offsetBytes());
            case WriteProtectedException _ ->
                Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED);
            case NoSpaceException _ ->
                Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.SPACE_ALLOCATION_FAILED);
            case OutOfRangeException _ ->
                Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LBA_OUT_OF_RANGE);
            case InvalidRequestException _ ->
                Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_FIELD_IN_CDB);
            case NotSupportedException _ ->
                Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_COMMAND_OPERATION_CODE);
            case DeadlineException _,AbortedException _,BusyException _,ReservationConflictException _ ->
                Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE);
            case OwnershipLostException _ -> // makes a multipath host use a path to the new owner
                Sense.of(SenseKey.NOT_READY, AdditionalSense.TARGET_PORT_IN_UNAVAILABLE_STATE);
            case DeviceGoneException _ ->
                Sense.of(SenseKey.HARDWARE_ERROR, AdditionalSense.INTERNAL_TARGET_FAILURE);
        };
    }
}
