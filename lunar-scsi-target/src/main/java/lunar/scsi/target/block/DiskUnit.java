package lunar.scsi.target.block;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.mode.InformationalExceptionsModePage;
import lunar.scsi.target.FencedDevice;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.copy.CopyService;
import lunar.scsi.target.copy.CopyUnit;
import lunar.scsi.target.copy.CopyWrites;
import org.jspecify.annotations.Nullable;

/** Shared state of a disk's commands. Thread-safe. */
final class DiskUnit implements CopyUnit {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final LogicalUnit unit;
    private final BlockDevice store;
    private final StateStore state;
    private volatile DiskProfile profile;
    private final CopyService copies;
    private final Medium medium = new Medium();
    private final DiskModes modes;
    private final LogCounters counters = new LogCounters();
    private final LossNotices losses = new LossNotices();
    private final LossVerifier verifier;
    private final Thresholds thresholds;
    private final UnitDevice presented;
    private final FencedDevice device;
    private final CopyWrites copyWrites;
    private final SelfTest selfTest;
    private final Erasures erasures;
    /** Completes with the flushes of all resets; guarded by this. */
    private CompletableFuture<Void> flushed = CompletableFuture.completedFuture(null);

    /** @throws IOException if the saved state cannot be read, or is damaged */
    DiskUnit(LogicalUnit unit, BlockDevice store, DiskProfile profile, StateStore state,
            UnitContext context) throws IOException {
        this.unit = unit;
        this.store = store;
        this.profile = profile;
        this.state = state;
        copies = context.service(CopyService.class, CopyService::new);
        modes = new DiskModes(store, state);
        thresholds = new Thresholds(unit, modes, store);
        presented = new UnitDevice(store, profile.thick(), modes, counters, thresholds);
        device = FencedDevice.over(presented);
        verifier = new LossVerifier(device, state);
        if (state.isShared()) {
            device.share();
        }
        copyWrites = new CopyWrites(device, context.abortTimeoutMs());
        selfTest = new SelfTest(device);
        erasures = new Erasures(medium, device, state);
    }

    /** Resumes an erasure that a restart of the server has interrupted. */
    void resume() throws IOException {
        erasures.resume(profile.readOnly() || device.readOnly());
    }

    /** Changes how the disk presents itself. */
    synchronized void present(DiskProfile after) {
        DiskProfile before = profile;
        profile = after;
        presented.present(after.thick());
        if (!after.removable()) { // an ejected medium could not be loaded again
            medium.allowRemoval();
            medium.eject(false);
        }
        if (before.removable() != after.removable() || before.rotational() != after.rotational()
                || before.thick() != after.thick()) {
            unit.establish(AdditionalSense.INQUIRY_DATA_HAS_CHANGED);
        }
        if (before.readOnly() != after.readOnly()) { // WP is in the mode parameter header
            unit.establish(AdditionalSense.MODE_PARAMETERS_CHANGED);
        }
        if (before.thick() != after.thick()) { // LBPME is in the capacity data
            unit.establish(AdditionalSense.CAPACITY_DATA_HAS_CHANGED);
        }
    }

    @Override
    public LogicalUnit unit() { return unit; }

    /** Returns the presentation. */
    DiskProfile profile() { return profile; }

    /** Whether ROD tokens can be made of it: writes by other servers would not revoke them. */
    boolean makesTokens() {
        return !state.isShared();
    }

    /** Where its small state is kept. */
    StateStore state() { return state; }

    /**
     * Returns the device that commands must use: it applies the mode pages and the fence around requests of aborted
     * commands. Never bypass it.
     */
    @Override
    public BlockDevice device() { return device; }

    @Override
    public BlockDevice store() { return store; }

    @Override
    public CopyWrites writes() { return copyWrites; }

    @Override
    public CopyService copies() { return copies; }

    /** Whether writes are rejected: by the device, by the presentation of the unit, or by SWP of the Control page. */
    @Override
    public boolean writeProtected() {
        return device.readOnly() || profile.readOnly() || modes.softwareWriteProtect();
    }

    @Override
    public boolean isThick() { return profile.thick(); }

    @Override
    public @Nullable Sense enter() {
        medium.enter();
        Sense obstacle = obstacle();
        if (obstacle != null) {
            medium.leave();
        }
        return obstacle;
    }

    @Override
    public void leave() { medium.leave(); }

    @Override
    public @Nullable Sense obstacle() { return medium.obstacle().orElse(null); }

    @Override
    public void lostWrites() { lostWrites(null); }

    /**
     * Records that the device has reported a loss of acknowledged writes: nexuses of the unit are owed a failure, and
     * ports without a session learn of it from the write verifier and the first unit attention of their next session.
     *
     * @param told the nexus that gets the report; null for none
     */
    void lostWrites(@Nullable Nexus told) {
        long count = device.writeLosses();
        if (verifier.reported(count)) {
            unit.lostWrites();
        }
        losses.lost(told, count, unit.nexuses()); // last: also to nexuses that were not present a moment ago
    }

    /** Returns the number of reported losses that the device does not count, to be passed to {@link #flushed}. */
    long uncountedLosses() {
        return verifier.uncounted();
    }

    /**
     * Records a successful flush of a nexus.
     *
     * @param uncountedBefore {@link #uncountedLosses} when it was submitted
     */
    void flushed(Nexus nexus, long uncountedBefore) {
        verifier.flushed(uncountedBefore);
        if (losses.any()) {
            losses.flushed(nexus);
        }
    }

    /** Checks whether the device has lost writes; called before a new nexus gets its first unit attention. */
    void checkLosses() {
        if (verifier.check()) {
            unit.lostWrites();
        }
    }

    /** Returns the write verifier of the unit. */
    UUID writeVerifier() {
        checkLosses();
        return verifier.value();
    }

    Medium medium() { return medium; }

    DiskModes modes() { return modes; }

    /** Counters of the log pages. */
    LogCounters counters() { return counters; }

    /** Notices of lost writes that are still owed. */
    LossNotices losses() { return losses; }

    /** Provisioning thresholds. */
    Thresholds thresholds() { return thresholds; }

    SelfTest selfTest() { return selfTest; }

    /** SANITIZE and FORMAT UNIT. */
    Erasures erasures() { return erasures; }

    /**
     * Resets the state that commands have changed.
     *
     * @return completes when no copy writes any longer and, if this or an earlier reset has switched the write cache
     *        off, the cached data is stable
     */
    CompletableFuture<Void> reset() {
        medium.allowRemoval();
        CompletableFuture<Void> stable = resetModes();
        selfTest.stop();
        return CompletableFuture.allOf(copyWrites.stop(_ -> true), stable);
    }

    /** Ends what another server has aborted by a reset. */
    CompletableFuture<Void> resetByOther() {
        selfTest.stop();
        return copyWrites.stop(_ -> true);
    }

    private CompletableFuture<Void> resetModes() {
        return modes.reset().thenCompose(this::cacheSwitched);
    }

    /**
     * Makes the cache stable where it was switched off, by a reset or at another server; ends with the flushes of all
     * such changes, so that one does not succeed while that of another is under way.
     */
    private synchronized CompletableFuture<Void> cacheSwitched(boolean off) {
        if (off) {
            flushed = CompletableFuture.allOf(flushed, flush());
        }
        return flushed;
    }

    /** Begins to follow what other servers change. */
    void startFollowing() throws IOException {
        modes.begin(unit, off -> {
            modesChanged();
            return cacheSwitched(off);
        });
        erasures.begin(profile.readOnly() || device.readOnly());
    }

    /** Follows no changes of other servers any more; completes when losses are saved. */
    CompletableFuture<Void> stopFollowing() {
        modes.end();
        erasures.end();
        return verifier.end();
    }

    /** Looks at what changes of mode pages, by any server, make due. */
    void modesChanged() {
        if (modes.simulatedException() == InformationalExceptionsModePage.UNIT_ATTENTION) {
            unit.establish(AdditionalSense.FAILURE_PREDICTION_FALSE);
        }
        thresholds.check();
    }

    /** Flushes for no command. Neither of these can fail: the next command that vouches for stable data tells of it. */
    private CompletableFuture<Void> flush() {
        var done = new CompletableFuture<Void>();
        device.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
            if (failure != null) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: the write cache was switched off, and what it held is not stable: {1}",
                        device, failure.getMessage());
                lostWrites(null);
            }
            done.complete(null);
        }));
        return done;
    }
}
