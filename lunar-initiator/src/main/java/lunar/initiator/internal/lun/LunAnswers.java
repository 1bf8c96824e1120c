package lunar.initiator.internal.lun;

import java.util.Optional;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.LogicalBlockProvisioning;

/**
 * Responses of a LUN to optional queries. An empty response only means that none was received: the unit may have given
 * one in another session.
 *
 * @param capacity READ CAPACITY(16)
 * @param limits VPD page B0h
 * @param provisioning VPD page B2h
 * @param mode MODE SENSE
 * @param writesSame whether it supports WRITE SAME(16)
 * @param comparesAndWrites whether it supports COMPARE AND WRITE
 */
record LunAnswers(Optional<CapacityData16> capacity, Optional<BlockLimits> limits,
        Optional<LogicalBlockProvisioning> provisioning, Optional<Modes> mode,
        Optional<Boolean> writesSame, Optional<Boolean> comparesAndWrites) {
    /**
     * Mode pages.
     *
     * @param page code of the page that was asked for, perhaps {@link lunar.scsi.mode.ModeSense#ALL_PAGES}
     */
    record Modes(int page, ModeParameters parameters) {}

    /** Returns these responses, with missing ones taken from another session. */
    LunAnswers orElse(LunAnswers other) {
        return new LunAnswers(capacity.or(other::capacity), limits.or(other::limits),
                provisioning.or(other::provisioning), mode.or(other::mode),
                writesSame.or(other::writesSame),
                comparesAndWrites.or(other::comparesAndWrites));
    }
}
