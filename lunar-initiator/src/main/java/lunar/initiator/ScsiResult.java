package lunar.initiator;

import java.util.Optional;
import lunar.block.StorageException;
import lunar.iscsi.Residual;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.Status;

/**
 * How a passed-through command ended at the target.
 *
 * @param status the SCSI status byte
 * @param senseData the sense data as they came; empty where there were none
 * @param residual how far the transfer missed the length of the buffers: what the target tells, or what was seen where
 *        it tells nothing
 * @param bidirectionalReadResidual the same for what a command with data in both directions read
 * @param dataInBytes bytes that came into the data-in buffer
 */
public record ScsiResult(int status, Bytes senseData, Residual residual,
        Residual bidirectionalReadResidual, int dataInBytes) {
    /** Whether the status is GOOD. */
    public boolean isGood() {
        return status == Status.GOOD.code();
    }

    /**
     * Whether the command has done what it was to do: GOOD, CONDITION MET, and a CHECK CONDITION that only tells
     * something beside, such as a recovered error.
     */
    public boolean isSuccess() { return SenseMapping.isSuccess(status, senseData); }

    /** Whether the unit only tells what has happened before, and has not looked at the command (SAM-5 section 5.14). */
    public boolean isUnitAttention() {
        return SenseMapping.isUnitAttention(status, senseData);
    }

    /**
     * This, where the command has succeeded.
     *
     * @param what the command and where it went, for the message
     * @throws StorageException of the type that tells what to do, with a {@link SenseException} as its cause where
     *         there are sense data
     */
    public ScsiResult orThrow(String what) throws StorageException {
        if (isSuccess()) {
            return this;
        }
        throw SenseMapping.failure(status, senseData, what);
    }

    /** The sense data, taken apart. */
    public Optional<Sense> sense() {
        return senseData.length() == 0
                ? Optional.empty()
                : Optional.of(Sense.decode(senseData.segment()));
    }
}
