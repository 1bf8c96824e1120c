package lunar.initiator;

import java.util.Optional;
import lunar.iscsi.Residual;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.Status;

/**
 * How a passed-through command ended at the target.
 *
 * @param status the SCSI status byte
 * @param senseData the sense data as they came; empty where there were none
 * @param residual how far the transfer missed the length of the buffers
 * @param bidirectionalReadResidual the same for what a command with data in both directions read
 * @param dataInBytes bytes that came into the data-in buffer
 */
public record ScsiResult(int status, Bytes senseData, Residual residual,
        Residual bidirectionalReadResidual, int dataInBytes) {
    /** Whether the status is GOOD. */
    public boolean isGood() {
        return status == Status.GOOD.code();
    }

    /** The sense data, taken apart. */
    public Optional<Sense> sense() {
        return senseData.length() == 0
                ? Optional.empty()
                : Optional.of(Sense.decode(senseData.segment()));
    }
}
