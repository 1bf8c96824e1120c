package lunar.raid.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.Extent;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import lunar.raid.BackgroundScan;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.RaidVolume;
import lunar.raid.Rebuild;
import lunar.raid.ReshapeState;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.Progress;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.engine.scan.DeferredStripeSet;
import lunar.raid.engine.scan.RebuildScan;
import lunar.raid.engine.scan.ResyncScan;
import lunar.raid.engine.scan.ScrubScan;
import lunar.raid.engine.stripe.Quiesce;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.VolumeRequest;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Planner;
import lunar.raid.layout.Shape;
import org.jspecify.annotations.Nullable;

/**
 * The engine of a {@link RaidVolume}, with the operations for the component that runs it: the clock's tick, pausing
 * while the volume grows, draining before it is stopped.
 */
public final class VolumeEngine implements RaidVolume {
    private volatile VolumeParts parts;
    private final RequestAdmission admission = new RequestAdmission(new Starter());

    private VolumeEngine(Layout layout, Planner planner, List<RaidMember> members,
            RaidOptions options, @Nullable ReshapeState reshaping) {
        VolumeParts.requireMembers(layout.shape(), members);
        parts = VolumeParts.of(layout, planner, members, options, reshaping, null);
    }

    /**
     * Creates a volume over members of any state.
     *
     * @param reshaping for a volume that has the blocks from before a reshape, and all members of the shape; else null
     * @throws IllegalArgumentException when a member does not fit the shape
     */
    public static VolumeEngine of(Shape shape, List<RaidMember> members, RaidOptions options,
            @Nullable ReshapeState reshaping) {
        Layout layout = Layout.of(shape);
        return of(layout, Planner.of(layout), members, options, reshaping);
    }

    /** Creates a volume of which all blocks are in the layout of the shape. */
    public static VolumeEngine of(Shape shape, List<RaidMember> members, RaidOptions options) {
        return of(shape, members, options, null);
    }

    /** Like {@link #of(Shape, List, RaidOptions, ReshapeState)}, but with a given planner. */
    public static VolumeEngine of(Layout layout, Planner planner, List<RaidMember> members,
            RaidOptions options, @Nullable ReshapeState reshaping) {
        return new VolumeEngine(layout, planner, members, options, reshaping);
    }

    public StripeEngine engine() { return parts.engine(); }

    // --- what it is ---

    @Override
    public Shape shape() { return parts.layout().shape(); }

    @Override
    public Layout layout() { return parts.layout(); }

    @Override
    public VolumeState state() { return engine().slots().view(); }

    @Override
    public boolean survives(long lostSlots) { return engine().membership.survives(lostSlots); }

    @Override
    public long repairs(int slot) {
        Member member = engine().slots().member(slot);
        return member == null ? 0 : member.repairs();
    }

    @Override
    public @Nullable BlockDevice member(int slot) {
        Member member = engine().slots().member(slot);
        return member == null ? null : member.device;
    }

    @Override
    public Geometry geometry() { return parts.geometry(); }

    @Override
    public Limits limits() { return parts.limits(); }

    @Override
    public Set<Capability> capabilities() { return parts.capabilities(); }

    @Override
    public Identity identity() { return engine().options.identity(); }

    @Override
    public boolean readOnly() { return parts.readOnly(); }

    /** {@inheritDoc} A volume has one owner. */
    @Override
    public boolean comparesForAllHosts() { return true; }

    @Override
    public long writeLosses() { return engine().lossCheck().losses(); }

    @Override
    public String toString() {
        return layout().shape().level() + " of " + layout().shape().members() + " members";
    }

    // --- requests ---

    @Override
    public void submit(BlockRequest request) {
        try {
            requireOpen(request);
            RequestValidation.check(request, this);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        if (request.operation() != Operation.FLUSH && request.blockCount() == 0) {
            RequestCompletion.succeed(request);
            return;
        }
        StorageException refusal = admission.admit(request);
        if (refusal != null) {
            RequestCompletion.fail(request, refusal);
        }
    }

    private final class Starter implements RequestAdmission.Starter {
        @Override
        public void begin(@Nullable VolumeRequest free, BlockRequest request) {
            VolumeParts now = parts;
            if (now.migration() != null) {
                now.migration().start(request, (of, failure) -> ended(null, of, failure));
            } else if (free != null) {
                free.start(request);
            } else {
                new VolumeRequest(now.tasks(), VolumeEngine.this::ended).start(request);
            }
        }

        @Override
        public StorageException gone(BlockRequest request) { return engine().gone(request); }
    }

    private void ended(@Nullable VolumeRequest volumeRequest, BlockRequest request,
            @Nullable StorageException failure) {
        RequestCompletion.completeGuarded(request,
                failure == null ? null : engine().options.listener().answer(failure));
        admission.ended(volumeRequest);
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        var done = new CountDownLatch(1);
        var failure = new AtomicReference<@Nullable StorageException>();
        submit(new BlockRequest().asCopyOf(request).onCompletion((_, cause) -> {
            failure.set(cause);
            done.countDown();
        }));
        Trampoline.runBeforeWaiting();
        Uninterrupted.run(done::await); // the buffer belongs to the members until they end
        StorageException cause = failure.get();
        if (cause != null) {
            throw cause;
        }
    }

    private void requireOpen(Object what) throws StorageException {
        if (engine().isClosed()) {
            throw engine().gone(what);
        }
    }

    /** {@inheritDoc} Tells what the member says that has the block; runs over neighbouring chunks are not joined. */
    @Override
    public Extent extent(long lba) throws StorageException {
        requireOpen("extent");
        Extent rest = RaidVolume.super.extent(lba);
        VolumeParts now = parts;
        if (now.migration() != null) { // the block may be moved soon
            return new Extent(lba, rest.blockCount(), true);
        }
        Slots slots = now.engine().slots();
        Layout layout = now.layout();
        long stripe = lba / layout.stripeBlocks();
        int unit = (int) (lba % layout.stripeBlocks() / layout.chunkBlocks());
        long run = slots.isWhole() && layout.dataUnits() == 1
                ? layout.runBlocks(lba)
                : layout.chunkBlocks() - lba % layout.chunkBlocks();
        Member member = slots.member(layout.slot(stripe, unit));
        long lost = slots.lost(stripe) >>> layout.slot(stripe, unit) & 1;
        if (member == null || lost != 0) {
            return new Extent(lba, Math.min(run, rest.blockCount()), true);
        }
        long at = member
                .deviceBlock(layout.memberBlock(stripe, unit) + lba % layout.chunkBlocks());
        try {
            Extent there = member.device.extent(at);
            return new Extent(lba, Math.min(Math.min(run, there.blockCount()), rest.blockCount()),
                    there.allocated());
        } catch (StorageException _) { // a request will find out; until then all counts as data
            return new Extent(lba, Math.min(run, rest.blockCount()), true);
        }
    }

    // --- growing ---

    /**
     * Makes requests wait until {@link #resume}; meanwhile the only other operation allowed is closing the volume.
     *
     * @param whenIdle called once, when the requests in flight have ended; possibly before this method returns
     * @throws IllegalStateException while a background scan is under way, or the volume is paused already
     */
    public void pause(Runnable whenIdle) {
        if (engine().hasScans()) {
            throw new IllegalStateException("a background scan is under way");
        }
        admission.pause(whenIdle);
    }

    /** Resumes after a pause, with the volume unchanged. */
    public void resume() { resume(parts); }

    /**
     * Resumes after a pause as a volume that has grown: it keeps all blocks, and all members, which stay as they are.
     *
     * @throws IllegalArgumentException when a member does not fit the shape, or the volume would be smaller
     */
    public void resume(Shape shape, List<RaidMember> members, RaidOptions options) {
        resume(shape, members, options, null);
    }

    /**
     * Like {@link #resume(Shape, List, RaidOptions)}, but for a striped level: its blocks, whose number stays the same
     * until then, are to be moved by {@link #reshape}.
     *
     * @param reshaping the state of the reshape; null if nothing is to be moved
     */
    public void resume(Shape shape, List<RaidMember> members, RaidOptions options,
            @Nullable ReshapeState reshaping) {
        Layout grown = Layout.of(shape);
        VolumeParts.requireMembers(shape, members);
        if (shape.level() != shape().level() || grown.volumeBlocks() < layout().volumeBlocks()
                || members.size() < shape().members()) {
            throw new IllegalArgumentException(shape + " is not what " + shape() + " can grow to");
        }
        resume(VolumeParts.of(grown, Planner.of(grown), members, options, reshaping, parts));
    }

    @Override
    public boolean isReshaping() { return parts.migration() != null; }

    @Override
    public boolean reshapesFirst() {
        Migration migration = parts.migration();
        return migration != null && !migration.map.keepsStripes();
    }

    @Override
    public BackgroundScan reshape(ScanOptions options) {
        Migration migration = parts.migration();
        boolean isStale = engine().slots().resync() != null;
        if (migration == null || engine().hasScans()
                || (isStale && migration.map.keepsStripes())) {
            throw new IllegalStateException(migration == null
                    ? "the volume has its layout already"
                    : "a background scan is under way, or due");
        }
        if (isStale || !engine().slots().halfWritten().isEmpty()) { // stripes get other numbers
            engine().membership.change(slots -> slots.stale(StripeSet.ALL), () -> {});
        }
        var reshape = new ReshapeScan(migration, options, () -> parts = parts.migrated());
        reshape.start();
        return reshape;
    }

    private void requireOneLayout() {
        if (isReshaping()) {
            throw new IllegalStateException("the volume is being reshaped: wait for the end");
        }
    }

    private void resume(VolumeParts next) {
        admission.resume(() -> parts = next).forEach(this::submit);
    }

    // --- members ---

    @Override
    public boolean fail(int slot, StorageException cause) {
        Slots slots = engine().slots();
        Member member = slots.member(slot);
        engine().lossCheck().missed(slot, member, cause);
        if (slots.state(slot) == SlotState.FAILED && slots.isServing()) {
            // The state keeper may have begun to count on a member that is to come.
            engine().membership.change(same -> same, () -> {});
            return true;
        }
        return member == null || engine().lossCheck().takes(member, cause)
                || engine().fail(member, cause);
    }

    @Override
    public Rebuild replace(int slot, BlockDevice device, long dataOffset, ScanOptions options) {
        var progress = new Progress(StripeSet.ALL, 0);
        Member member = newMember(slot, device, dataOffset);
        var rebuild = new RebuildScan(engine(), options, member, progress);
        install(member, progress, rebuild);
        return rebuild;
    }

    @Override
    public Rebuild readmit(int slot, BlockDevice device, long dataOffset,
            Supplier<StripeSet> missed, ScanOptions options) {
        Member member = newMember(slot, device, dataOffset);
        var late = new DeferredStripeSet();
        var progress = new Progress(late, 0);
        var rebuild = new RebuildScan(engine(), options, member, progress);
        // Before this moment a write may have been planned without the slot; afterwards none is, outside of the set.
        new Quiesce(engine().locks, () -> {
            StripeSet unwritten = missed.get();
            StripeSet halfWritten = engine().slots().halfWritten().snapshot();
            late.are(from -> Math.min(unwritten.next(from), halfWritten.next(from)));
            install(member, progress, rebuild);
        }).start();
        return rebuild;
    }

    @Override
    public void whenStable(Runnable work) { engine().membership.whenStable(work); }

    private Member newMember(int slot, BlockDevice device, long dataOffset) {
        requireOneLayout();
        VolumeParts.requireFit(layout().shape(), slot, device, dataOffset);
        if (engine().slots().state(slot) != SlotState.FAILED) {
            throw new IllegalArgumentException(
                    "slot " + slot + " is " + engine().slots().state(slot) + ": fail it first");
        }
        return new Member(slot, engine().options.guard().member(device), dataOffset);
    }

    private void install(Member member, Progress progress, RebuildScan rebuild) {
        Member before = engine().slots().member(member.slot);
        if (before != null && !before.device.equals(member.device)) {
            engine().options.closer().execute(() -> StripeEngine.closeQuietly(before));
        }
        engine().membership.change(slots -> slots.with(member.slot, member, SlotState.REBUILDING,
                progress), () -> startSettled(rebuild::start));
    }

    /**
     * Starts a scan once every change planned before has ended, and the guard has settled: such a change may have
     * missed that a slot was lost, or have computed parity from writes that members have lost since.
     */
    private void startSettled(Runnable start) {
        new Quiesce(engine().locks, () -> engine().options.guard().settle(start)).start();
    }

    @Override
    public Rebuild rebuild(int slot, ScanOptions options) {
        requireOneLayout();
        Slots slots = engine().slots();
        Progress progress = slots.rebuild(slot);
        Member member = slots.member(slot);
        if (progress == null || member == null) {
            throw new IllegalArgumentException("slot " + slot + " is " + slots.state(slot));
        }
        var rebuild = new RebuildScan(engine(), options, member, progress);
        rebuild.start();
        return rebuild;
    }

    @Override
    public BackgroundScan resync(ScanOptions options) {
        VolumeParts now = parts;
        Progress progress = now.engine().dueResync();
        Migration migration = progress == null ? null : now.migration();
        if (migration != null && (!migration.map.keepsStripes() || now.engine().hasScans())) {
            throw new IllegalStateException("the volume is being reshaped: wait for the end");
        }
        var resync = new ResyncScan(now.engine(),
                migration == null ? ResyncScan.Engines.of(now.engine()) : migration, options,
                progress == null ? new Progress(StripeSet.EMPTY, 0) : progress);
        startSettled(resync::start);
        return resync;
    }

    @Override
    public Scrub scrub(boolean repairs, ScanOptions options) {
        requireOneLayout();
        var scrub = new ScrubScan(engine(), options, repairs);
        scrub.start();
        return scrub;
    }

    /**
     * Advances the time, for {@link lunar.raid.FailurePolicy#stallTicks}. The owner of the volume calls this at regular
     * intervals.
     */
    public void tick() {
        engine().tick();
        Migration migration = parts.migration();
        if (migration != null) {
            migration.tick();
        }
    }

    /**
     * Takes no more requests, and waits for the end of those in progress. Members stay open, and scans go on. Called
     * before a volume is stopped in order.
     */
    public void drain() {
        admission.drain();
        Trampoline.runBeforeWaiting();
        Uninterrupted.run(admission::awaitIdle);
    }

    /**
     * Ends all requests, then closes the members. Blocks for as long as members take.
     */
    @Override
    public void close() throws StorageException {
        List<BlockRequest> refused = admission.close();
        if (refused == null) {
            return;
        }
        engine().close();
        Migration migration = parts.migration();
        if (migration != null) {
            migration.close();
        }
        refused.forEach(
                request -> RequestCompletion.completeGuarded(request, engine().gone(request)));
        StorageException failure = null;
        for (int slot = 0; slot < layout().shape().members(); slot++) {
            Member member = engine().slots().member(slot);
            if (member != null) {
                try {
                    member.device.close();
                } catch (StorageException e) {
                    failure = e;
                }
            }
        }
        Trampoline.runBeforeWaiting();
        Uninterrupted.run(admission::awaitIdle);
        if (failure != null) {
            throw failure;
        }
    }
}
