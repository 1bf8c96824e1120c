package lunar.initiator;

import java.util.Optional;
import lunar.block.StorageException;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.iscsi.pdu.Residual;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.Status;

/**
 * Result of a command passed through to the target.
 *
 * @param status the SCSI status byte
 * @param senseData the sense data as received; empty if there was none
 * @param residual difference between the transfer and the length of the buffers: as reported by the target, or as
 *        observed if it reports none
 * @param bidirectionalReadResidual the residual of the data-in of a command with data in both directions
 * @param dataInBytes bytes received into the data-in buffer
 */
public record ScsiResult(int status, Bytes senseData, Residual residual,
        Residual bidirectionalReadResidual, int dataInBytes) {
    /** Whether the status is GOOD. */
    public boolean isGood() {
        return status == Status.GOOD.code();
    }

    /**
     * Whether the command has succeeded: GOOD, CONDITION MET, or a CHECK CONDITION that only adds information, such as
     * a recovered error.
     */
    public boolean isSuccess() { return SenseMapping.isSuccess(status, senseData); }

    /** Whether the unit only reports an earlier event, and has not processed the command (SAM-5 section 5.14). */
    public boolean isUnitAttention() {
        return SenseMapping.isUnitAttention(status, senseData);
    }

    /**
     * Returns this result if the command has succeeded.
     *
     * @param what the command and its destination, for the message
     * @throws StorageException of the type that corresponds to the failure, with a {@link SenseException} as its cause
     *        if there is sense data
     */
    public ScsiResult orThrow(String what) throws StorageException {
        if (isSuccess()) {
            return this;
        }
        throw SenseMapping.failure(status, senseData, what);
    }

    /** Returns the decoded sense data. */
    public Optional<Sense> sense() {
        return senseData.length() == 0
                ? Optional.empty()
                : Optional.of(Sense.decode(senseData.segment()));
    }
}
