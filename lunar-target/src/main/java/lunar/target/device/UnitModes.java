package lunar.target.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import lunar.scsi.CachingModePage;
import lunar.scsi.DiskModePages;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InformationalExceptionsModePage;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ModePages;
import lunar.scsi.ModeParameters;
import lunar.scsi.ModeSelect;
import lunar.scsi.ProvisioningModePage;
import lunar.target.unit.StateStore;
import lunar.target.unit.UnitSpec;

/**
 * The mode pages of a logical unit, which all nexuses share, and where they are saved. What commands look at each time
 * is taken out of the pages when these change. Thread-safe.
 */
final class UnitModes {
    /** MAXIMUM SENSE DATA LENGTH (SPC-5 section 7.5.10). */
    static final int MAX_SENSE_BYTES = 252;

    private static final String STATE = "mode-pages";

    /** The pages, and what they say to commands. */
    private record Current(ModePages pages, boolean descriptorSense, boolean writeProtect,
            boolean writeThrough, boolean watching) {
        static Current of(ModePages pages) {
            boolean cached = pages.current(CachingModePage.CODE)
                    .orElse(null) instanceof CachingModePage page && page.writeCacheEnabled();
            return new Current(pages, pages.descriptorSense(), pages.softwareWriteProtect(),
                    !cached,
                    thresholds(pages).stream().anyMatch(page -> page.thresholds().stream()
                            .anyMatch(ProvisioningModePage.Threshold::enabled)));
        }
    }

    private final StateStore store;
    private final AtomicReference<Current> current;

    /**
     * The pages as they were saved.
     *
     * @throws IOException when what was saved cannot be read
     */
    UnitModes(UnitSpec spec) throws IOException {
        store = spec.state();
        ModePages defaults = DiskModePages.of(spec.device().usage().isPresent(),
                store.isPersistent(), SelfTest.EXTENDED_S, MAX_SENSE_BYTES);
        Optional<byte[]> saved = store.load(STATE);
        try {
            current = new AtomicReference<>(Current.of(saved.isEmpty()
                    ? defaults
                    : defaults.restored(MemorySegment.ofArray(saved.get()))));
        } catch (MalformedDataException e) {
            throw new IOException("the saved mode pages of " + spec.device().identity().product()
                    + " are damaged (" + e.getMessage()
                    + "); restore the state '" + STATE + "', or remove it to start without", e);
        }
    }

    ModePages pages() { return now().pages(); }

    /** D_SENSE: sense data come in descriptor format. */
    boolean descriptorSense() {
        return now().descriptorSense();
    }

    /** SWP: writes are refused. */
    boolean softwareWriteProtect() { return now().writeProtect(); }

    /** WCE is 0: a change is stable before its command ends. */
    boolean writeThrough() {
        return now().writeThrough();
    }

    /** Whether a threshold is enabled. */
    boolean watchesThresholds() { return now().watching(); }

    /** The thresholds; nothing where the unit does not know how full it is. */
    Optional<ProvisioningModePage> thresholds() {
        return thresholds(pages());
    }

    private static Optional<ProvisioningModePage> thresholds(ModePages pages) {
        return pages.current(ProvisioningModePage.CODE, ProvisioningModePage.SUBPAGE)
                .filter(ProvisioningModePage.class::isInstance)
                .map(ProvisioningModePage.class::cast);
    }

    /** MRIE, where TEST simulates an informational exception; 0 where there is none to tell. */
    int simulatedException() {
        return pages().current(InformationalExceptionsModePage.CODE)
                .orElse(null) instanceof InformationalExceptionsModePage page && page.test()
                && !page.exceptionsDisabled() ? page.reportingMethod() : 0;
    }

    /**
     * Resets the unit: the saved values are the current ones again (SPC-5 section 7.5.3).
     *
     * @return whether that has switched the write cache off
     */
    boolean reset() {
        Current before = current.getAndUpdate(now -> Current.of(now.pages().reset()));
        return !before.writeThrough() && writeThrough();
    }

    /** Obeys a MODE SELECT that saves nothing; returns whether any value has changed. */
    boolean change(ModeSelect command, MemorySegment data, ModeParameters.Blocks blocks)
            throws IllegalRequestException {
        while (true) {
            Current before = now();
            ModePages after = before.pages().change(command, data, blocks);
            if (current.compareAndSet(before, Current.of(after))) {
                return !after.sameValues(before.pages());
            }
        }
    }

    /** Like {@link #change}, but for a MODE SELECT that saves. Blocks. */
    synchronized boolean changeAndSave(ModeSelect command, MemorySegment data,
            ModeParameters.Blocks blocks) throws IllegalRequestException, IOException {
        while (true) {
            Current before = now();
            ModePages after = before.pages().change(command, data, blocks);
            store.save(STATE, after.savedPages());
            if (current.compareAndSet(before, Current.of(after))) {
                return !after.sameValues(before.pages());
            }
        }
    }

    private Current now() { return current.get(); }
}
