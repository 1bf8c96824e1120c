package lunar.scsi.target.block;

import java.util.EnumMap;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.Usage;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.mode.ProvisioningModePage;
import lunar.scsi.mode.ProvisioningModePage.Resource;
import lunar.scsi.mode.ProvisioningModePage.Threshold;
import lunar.scsi.target.LogicalUnit;

/**
 * Logical block provisioning thresholds (SBC-4 section 4.7.3.8): establishes a unit attention for every nexus when a
 * resource crosses its threshold, and again only after it has gone back and crossed the threshold anew. Thread-safe.
 */
final class Thresholds {
    /** Bytes of a threshold set, the unit of thresholds and of resource counts. */
    private static final int SET_BYTES = 1 << 20;

    private final LogicalUnit unit;
    private final DiskModes modes;
    private final BlockDevice device;
    private final Map<Resource, Boolean> crossed = new EnumMap<>(Resource.class);

    Thresholds(LogicalUnit unit, DiskModes modes, BlockDevice device) {
        this.unit = unit;
        this.modes = modes;
        this.device = device;
    }

    /** THRESHOLD EXPONENT: blocks of a threshold set, as a power of two (SBC-4 section 6.6.7). */
    static int exponent(BlockDevice device) {
        return Math.max(1, Integer.numberOfTrailingZeros(SET_BYTES)
                - Integer.numberOfTrailingZeros(device.blockSize()));
    }

    /** Converts bytes to threshold sets. */
    static long sets(BlockDevice device, long bytes) {
        long sets = (bytes / device.blockSize()) >> exponent(device);
        return Math.min(sets, 0xffff_ffffL);
    }

    /** Checks the usage of the device. Cheap; does nothing if no threshold is enabled. */
    void check() {
        if (modes.watchesThresholds()) {
            device.usage().ifPresent(this::check);
        }
    }

    private void check(Usage usage) {
        for (Threshold threshold : modes.thresholds().map(ProvisioningModePage::thresholds)
                .orElseThrow()) {
            boolean reached = threshold.enabled() && switch (threshold.resource()) {
                case AVAILABLE -> sets(device, usage.availableBytes()) <= threshold.count();
                case USED -> sets(device, usage.usedBytes()) >= threshold.count();
            };
            if (crosses(threshold.resource(), reached)) {
                unit.establish(AdditionalSense.THIN_PROVISIONING_SOFT_THRESHOLD);
            }
        }
    }

    private synchronized boolean crosses(Resource resource, boolean reached) {
        return !Boolean.valueOf(reached).equals(crossed.put(resource, reached)) && reached;
    }
}
