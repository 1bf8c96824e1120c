package lunar.initiator.internal.lun;

import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.LogicalBlockProvisioning;

/**
 * Properties of a LUN, probed when it was opened. Unreported ones have safe values.
 *
 * @param unmapsByWriteSame whether WRITE SAME of zeroes may unmap, and zeroes blocks that it leaves mapped (LBPWS and
 *        LBPRZ, SBC-4 section 4.7.3.4.4). UNMAP may leave partial granules and other blocks unchanged, so LBPU and
 *        LBPRZ alone do not guarantee zeroes
 * @param hasVolatileCache whether a write without FUA may be lost when the target loses power
 * @param modeChanges number of changes of mode pages that had been reported when these were read
 * @param writeVerifier changes when the target may have lost acknowledged writes; empty if it reports none
 * @param hasHoles whether blocks may be unmapped and then read as zeroes (LBPME and LBPRZ)
 * @param answers responses to optional queries on which these properties depend
 */
public record LunTraits(Geometry geometry, Limits limits, Set<Capability> capabilities,
        Identity identity,
        boolean readOnly, boolean unmapsByWriteSame, boolean hasHoles, boolean hasVolatileCache,
        long modeChanges, Optional<UUID> writeVerifier, LunAnswers answers) {
    /** Longest transfer of a device that reports none, and the longest of all: the buffer length is an int. */
    private static final int DEFAULT_TRANSFER_BYTES = 8 << 20;
    private static final long MAX_TRANSFER_BYTES = 256 << 20;
    private static final int OPTIMAL_TRANSFER_BYTES = 256 << 10;
    private static final long MAX_WRITE_SAME_BLOCKS = 0x7f_ffff;
    private static final long MAX_UNMAP_BLOCKS = 0xffff_ffffL;
    private static final int BUFFER_ALIGNMENT_BYTES = 1;
    private static final BlockLimits NO_LIMITS = new BlockLimits(false, 0, 0, 0, 0, 0, 0, 0, 0,
            OptionalLong.empty(), 0, 0);

    public LunTraits {
        capabilities = Set.copyOf(capabilities);
    }

    /**
     * @param told current blocks, by either READ CAPACITY
     * @param modeChanges number of changes of mode pages that had been reported when the answer was requested
     */
    static LunTraits of(Geometry told, Identity identity, Optional<UUID> writeVerifier,
            int queueDepth, LunAnswers answers, long modeChanges) {
        return of(told, identity, writeVerifier, queueDepth, answers,
                CacheMode.isVolatile(answers.mode().map(LunAnswers.Modes::parameters)),
                modeChanges);
    }

    private static LunTraits of(Geometry told, Identity identity, Optional<UUID> writeVerifier,
            int queueDepth, LunAnswers answers, boolean hasVolatileCache, long modeChanges) {
        var geometry = new Geometry(told.blockSize(), told.blockCount(), told.blockSize() << answers
                .capacity().map(CapacityData16::physicalExponent).orElse(0));
        BlockLimits limits = answers.limits().orElse(NO_LIMITS);
        Optional<LogicalBlockProvisioning> provisioning = answers.provisioning();
        boolean zeroes = answers.capacity().map(CapacityData16::readZeroes).orElse(false);
        var capabilities = EnumSet.noneOf(Capability.class);
        if (answers.writesSame().orElse(limits.maxWriteSameBlocks() > 0)) {
            capabilities.add(Capability.WRITE_ZEROES);
        }
        boolean unmapsByWriteSame = zeroes && capabilities.contains(Capability.WRITE_ZEROES)
                && provisioning.map(LogicalBlockProvisioning::writeSame16).orElse(false);
        if (unmapsByWriteSame) {
            capabilities.add(Capability.UNMAP);
            capabilities.add(Capability.UNMAP_ZEROES);
        } else if (zeroes && provisioning.map(LogicalBlockProvisioning::unmap).orElse(false)) {
            capabilities.add(Capability.UNMAP);
        }
        if (limits.maxCompareAndWriteBlocks() > 0 && answers.comparesAndWrites().orElse(false)) {
            capabilities.add(Capability.COMPARE_AND_WRITE);
        }
        Optional<ModeParameters> modes = answers.mode().map(LunAnswers.Modes::parameters);
        if (modes.map(ModeParameters::supportsFua).orElse(false)) {
            capabilities.add(Capability.FUA);
        }
        return new LunTraits(geometry, limits(geometry, limits, queueDepth, capabilities),
                capabilities, identity,
                modes.map(ModeParameters::isWriteProtected).orElse(false),
                unmapsByWriteSame,
                zeroes && answers.capacity().map(CapacityData16::provisioned).orElse(false),
                hasVolatileCache, modeChanges, writeVerifier, answers);
    }

    /**
     * Returns these traits, with the unit's answers to another session where it did not answer this one. Whether it has
     * a volatile cache can be changed at any time: without an answer to this session it counts as having one.
     */
    public LunTraits orElse(LunTraits other) {
        return of(geometry, identity, writeVerifier, limits.queueDepth(),
                answers.orElse(other.answers), hasVolatileCache, modeChanges);
    }

    private static Limits limits(Geometry geometry, BlockLimits told, int queueDepth,
            Set<Capability> capabilities) {
        int blockSize = geometry.blockSize();
        long most = MAX_TRANSFER_BYTES / blockSize;
        long transfer = told.maxTransferBlocks() == 0
                ? DEFAULT_TRANSFER_BYTES / blockSize
                : Math.min(told.maxTransferBlocks(), most);
        long optimal = told.optimalTransferBlocks() == 0
                ? OPTIMAL_TRANSFER_BYTES / blockSize
                : told.optimalTransferBlocks();
        long writeSame = told.maxWriteSameBlocks() <= 0
                ? MAX_WRITE_SAME_BLOCKS
                : Math.min(told.maxWriteSameBlocks(), MAX_WRITE_SAME_BLOCKS);
        long unmap = told.maxUnmapBlocks() == 0 ? MAX_UNMAP_BLOCKS : told.maxUnmapBlocks();
        return new Limits((int) transfer, (int) Math.min(optimal, transfer),
                capabilities.contains(Capability.UNMAP_ZEROES)
                        ? writeSame
                        : capabilities.contains(Capability.UNMAP) ? unmap : 0,
                capabilities.contains(Capability.WRITE_ZEROES) ? writeSame : 0,
                capabilities.contains(Capability.COMPARE_AND_WRITE)
                        ? told.maxCompareAndWriteBlocks()
                        : 0,
                queueDepth, BUFFER_ALIGNMENT_BYTES);
    }
}
