package lunar.initiator.internal.lun;

import java.util.Optional;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.LogicalBlockProvisioning;

/**
 * Answers of a LUN to optional questions. An empty answer means nothing more than that none came: the same unit may
 * have given one by another session.
 *
 * @param capacity READ CAPACITY(16)
 * @param limits VPD page B0h
 * @param provisioning VPD page B2h
 * @param mode MODE SENSE
 * @param writesSame whether it knows WRITE SAME(16)
 * @param comparesAndWrites whether it knows COMPARE AND WRITE
 */
record LunAnswers(Optional<CapacityData16> capacity, Optional<BlockLimits> limits,
        Optional<LogicalBlockProvisioning> provisioning, Optional<ModeParameters> mode,
        Optional<Boolean> writesSame, Optional<Boolean> comparesAndWrites) {
    /** Returns these answers, and those of another session where there is none. */
    LunAnswers orElse(LunAnswers other) {
        return new LunAnswers(capacity.or(other::capacity), limits.or(other::limits),
                provisioning.or(other::provisioning), mode.or(other::mode),
                writesSame.or(other::writesSame),
                comparesAndWrites.or(other::comparesAndWrites));
    }
}
