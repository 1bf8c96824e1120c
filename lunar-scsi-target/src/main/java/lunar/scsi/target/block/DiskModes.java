package lunar.scsi.target.block;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import lunar.block.BlockDevice;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.DiskModePages;
import lunar.scsi.mode.InformationalExceptionsModePage;
import lunar.scsi.mode.ModePages;
import lunar.scsi.mode.ProvisioningModePage;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitModes;

/** Mode pages of a disk, and the settings that its commands read from them. Thread-safe. */
final class DiskModes {
    /** MAXIMUM SENSE DATA LENGTH (SPC-5 section 7.5.10). */
    static final int MAX_SENSE_BYTES = 252;

    /** Settings that commands read. */
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
     * Loads the saved mode pages.
     *
     * @throws IOException if the saved state cannot be read
     */
    DiskModes(BlockDevice device, StateStore store) throws IOException {
        ModePages defaults = DiskModePages.of(device.usage().isPresent(), store.isPersistent(),
                SelfTest.EXTENDED_S, MAX_SENSE_BYTES);
        modes = new UnitModes<>(device.identity().product(), defaults, store, Values::of);
    }

    /** Returns the mode pages. */
    UnitModes<?> pages() { return modes; }

    /** D_SENSE: sense data come in descriptor format. */
    boolean descriptorSense() {
        return modes.values().descriptorSense();
    }

    /** SWP: writes are refused. */
    boolean softwareWriteProtect() {
        return modes.isAny(Values::writeProtect);
    }

    /** WCE is 0: a change is stable before its command ends. */
    boolean writeThrough() {
        return modes.isAny(Values::writeThrough);
    }

    /** Whether any threshold is enabled. */
    boolean watchesThresholds() {
        return modes.values().watching();
    }

    /** Returns the thresholds; empty if the device does not report its usage. */
    Optional<ProvisioningModePage> thresholds() {
        return thresholds(modes.pages());
    }

    private static Optional<ProvisioningModePage> thresholds(ModePages pages) {
        return pages.current(ProvisioningModePage.CODE, ProvisioningModePage.SUBPAGE)
                .filter(ProvisioningModePage.class::isInstance)
                .map(ProvisioningModePage.class::cast);
    }

    /** Returns MRIE if TEST simulates an informational exception; otherwise 0. */
    int simulatedException() {
        return modes.pages().current(InformationalExceptionsModePage.CODE)
                .orElse(null) instanceof InformationalExceptionsModePage page && page.test()
                && !page.exceptionsDisabled() ? page.reportingMethod() : 0;
    }

    /**
     * Resets the unit: restores the saved values as current values (SPC-5 section 7.5.3).
     *
     * @return whether that has switched the write cache off, when it is done; exceptionally where it could not be
     */
    CompletableFuture<Boolean> reset() {
        return modes.reset().thenApply(before -> !before.writeThrough() && writeThrough());
    }

    /**
     * Begins to follow other servers.
     *
     * @param effect called after a change, with whether that has switched the write cache off
     * @throws IOException when the pages cannot be read
     */
    void begin(LogicalUnit unit, Function<Boolean, CompletableFuture<Void>> effect)
            throws IOException {
        modes.begin(unit, (before, after) -> effect
                .apply(!before.writeThrough() && after.writeThrough()));
    }

    /** Follows no more changes of other servers. */
    void end() { modes.end(); }
}
