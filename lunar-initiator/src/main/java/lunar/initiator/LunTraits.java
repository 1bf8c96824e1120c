package lunar.initiator;

import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;

/**
 * What was found out about a LUN when it was opened.
 *
 * @param unmapByWriteSame UNMAP may leave parts of large granules as they are; WRITE SAME with UNMAP zeroes those
 *        (SBC-4 section 4.7.3.4.4)
 * @param zeroesByUnmap a WRITE SAME of zeroes may unmap
 * @param hasVolatileCache a write without FUA may be lost when the target loses power
 * @param writeVerifier what changes when the target may have lost acknowledged writes; empty where it does not tell
 * @param hasHoles blocks may be unmapped, and then read as zeroes (LBPME and LBPRZ)
 */
record LunTraits(Geometry geometry, Limits limits, Set<Capability> capabilities, Identity identity,
        boolean readOnly, boolean unmapByWriteSame, boolean zeroesByUnmap,
        boolean hasHoles, boolean hasVolatileCache, Optional<UUID> writeVerifier) {
    LunTraits {
        capabilities = Set.copyOf(capabilities);
    }
}
