package lunar.scsi.target.block;

import java.io.IOException;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.DiskModePages;
import lunar.scsi.mode.InformationalExceptionsModePage;
import lunar.scsi.mode.ModePages;
import lunar.scsi.mode.ProvisioningModePage;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitModes;

/** The mode pages of a disk, and what they say to its commands. Thread-safe. */
final class DiskModes {
    /** MAXIMUM SENSE DATA LENGTH (SPC-5 section 7.5.10). */
    static final int MAX_SENSE_BYTES = 252;

    /** What commands look at. */
    private record Values(boolean descriptorSense, boolean writeProtect, boolean writeThrough,
            boolean watching) {
        static Values of(ModePages pages) {
            boolean cached = pages.current(CachingModePage.CODE)
                    .orElse(null) instanceof CachingModePage page && page.writeCacheEnabled();
            return new Values(pages.descriptorSense(), pages.softwareWriteProtect(), !cached,
                    DiskModes.thresholds(pages).stream().anyMatch(page -> page.thresholds()
                            .stream().anyMatch(ProvisioningModePage.Threshold::enabled)));
        }
    }

    private final UnitModes<Values> modes;

    /**
     * The pages as they were saved.
     *
     * @throws IOException when what was saved cannot be read
     */
    DiskModes(BlockDevice device, StateStore store) throws IOException {
        ModePages defaults = DiskModePages.of(device.usage().isPresent(), store.isPersistent(),
                SelfTest.EXTENDED_S, MAX_SENSE_BYTES);
        modes = new UnitModes<>(device.identity().product(), defaults, store, Values::of);
    }

    /** The pages. */
    UnitModes<?> pages() { return modes; }

    /** D_SENSE: sense data come in descriptor format. */
    boolean descriptorSense() {
        return modes.values().descriptorSense();
    }

    /** SWP: writes are refused. */
    boolean softwareWriteProtect() {
        return modes.values().writeProtect();
    }

    /** WCE is 0: a change is stable before its command ends. */
    boolean writeThrough() {
        return modes.values().writeThrough();
    }

    /** Whether a threshold is enabled. */
    boolean watchesThresholds() {
        return modes.values().watching();
    }

    /** The thresholds; nothing where the unit does not know how full it is. */
    Optional<ProvisioningModePage> thresholds() {
        return thresholds(modes.pages());
    }

    private static Optional<ProvisioningModePage> thresholds(ModePages pages) {
        return pages.current(ProvisioningModePage.CODE, ProvisioningModePage.SUBPAGE)
                .filter(ProvisioningModePage.class::isInstance)
                .map(ProvisioningModePage.class::cast);
    }

    /** MRIE, where TEST simulates an informational exception; 0 where there is none to tell. */
    int simulatedException() {
        return modes.pages().current(InformationalExceptionsModePage.CODE)
                .orElse(null) instanceof InformationalExceptionsModePage page && page.test()
                && !page.exceptionsDisabled() ? page.reportingMethod() : 0;
    }

    /**
     * Resets the unit: the saved values are the current ones again (SPC-5 section 7.5.3).
     *
     * @return whether that has switched the write cache off
     */
    boolean reset() { return !modes.reset().writeThrough() && writeThrough(); }
}
