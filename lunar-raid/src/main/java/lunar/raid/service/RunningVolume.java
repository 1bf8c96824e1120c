package lunar.raid.service;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.DeviceUri;
import lunar.block.ForwardingDevice;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.service.ownership.Lease;
import lunar.raid.service.ownership.Ownership;

/**
 * A running volume that maintains itself: it does without members that fail, resynchronizes those that come back,
 * activates spares, and restores redundancy after a crash. Owns its members; closing it stops it in order.
 */
public final class RunningVolume extends ForwardingDevice {
    private static final System.Logger LOG = System.getLogger("lunar.raid");
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final Duration FAILED_STOP = Duration.ofSeconds(1);

    private final VolumeSpec spec;
    private final VolumeEngine volume;
    private volatile VolumeMetadata metadata;
    private final VolumeStart parts;
    private final VolumeOpening.Opened opened;
    private final ScanScheduler scans;
    private final RecoveryCoordinator recovery;
    private final SparePool spares;
    private final VolumeGrowth growing;
    private final Ownership ownership;
    private final Lease lease;
    private final TrafficMeter meter;
    private final ScheduledExecutorService timer;
    private final ExecutorService workers;
    private final List<Consumer<VolumeEvent>> listeners = new CopyOnWriteArrayList<>();
    private final AtomicLong repairs;
    private final AtomicLongArray errors;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stoppedInOrder;
    /** Whether nothing is under way any more, neither for hosts nor for the volume itself. */
    private boolean isStill;
    /** Whether the clock is stopped, while the volume grows and its members must not be checked. */
    private volatile boolean clockStands;
    /** Whether the metadata here must not be written any more: growing broke off, or ownership was lost. */
    private volatile boolean isBroken;
    private int ticks;

    /** Runs the volume of a spec, without telling any {@link VolumeHost} of it. */
    public static RunningVolume open(VolumeSpec spec, MemberOpener opener)
            throws StorageException {
        return open(spec, opener, List.of(), _ -> {});
    }

    /**
     * Runs the volume of a spec. Blocks until it can be used: members are opened side by side, the journal is replayed,
     * and what is left to do has begun.
     *
     * @param hosts told of the volume, and asked before anything is written
     * @param listener as in {@link #addListener}, from the start on
     * @throws StorageException when it cannot be put together, with one line that says why and what to do
     */
    public static RunningVolume open(VolumeSpec spec, MemberOpener opener, List<VolumeHost> hosts,
            Consumer<VolumeEvent> listener) throws StorageException {
        ExecutorService workers = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("raid-" + spec.name() + "-", 0).factory());
        boolean done = false;
        try {
            var opened = new VolumeOpening(spec, opener, hosts, workers).open();
            var running = new VolumeStart(spec, opener, opened, workers).run(listener);
            done = true;
            return running;
        } finally {
            if (!done) {
                workers.shutdown();
            }
        }
    }

    RunningVolume(VolumeStart start, VolumeEngine volume, StableFailures kept) {
        super(volume);
        this.volume = volume;
        parts = start;
        spec = start.spec;
        opened = start.opened;
        metadata = opened.metadata();
        timer = start.timer;
        workers = start.workers;
        repairs = start.repairs;
        errors = start.errors;
        ownership = opened.ownership();
        lease = ownership.lease();
        meter = new TrafficMeter(volume.blockSize(), System.nanoTime());
        scans = new ScanScheduler(volume, spec.options(), timer, repairs, this::tell);
        RunTiming timing = spec.options().timing();
        spares = new SparePool(metadata, opened.spares(), start.opener, timing, this::tell);
        recovery = new RecoveryCoordinator(volume, opened, kept, spares, scans, start.opener,
                timing,
                workers, this::tell);
        growing = new VolumeGrowth(volume, scans, timer, workers, new GrowingEnd());
    }

    private final class GrowingEnd implements VolumeGrowth.Swap {
        @Override
        public void stopClock() { clockStands = true; }

        @Override
        public void grown(VolumeMetadata grown, MemberFaults faults) {
            var kept = new StableFailures(grown, 0);
            metadata = grown;
            spares.grown(grown);
            recovery.grown(grown, kept);
            volume.resume(grown.record().shape(), grown.raidMembers(),
                    parts.options(grown, kept), grown.reshaping());
            faults.connect(volume);
            clockStands = false;
        }

        @Override
        public void broken(String why) {
            isBroken = true;
            tell(new VolumeEvent.VolumeFailed(why));
            Thread.ofPlatform().daemon().name("raid-broken").start(RunningVolume.this::close);
        }
    }

    void start() {
        tell(new VolumeEvent.Started(VolumeHealth.of(volume), metadata.replayed()));
        ownership.follow(volume);
        ownership.onLost(this::ownershipLost);
        recovery.tendScans();
        long everyNs = spec.options().timing().tick().toNanos();
        var _ = timer.scheduleWithFixedDelay(this::tick, 0, everyNs, TimeUnit.NANOSECONDS);
        opened.claims().forEach(claim -> claim.running(this));
    }

    private void tick() {
        try {
            look();
        } catch (RuntimeException e) { // else there would be no other tick
            LOG.log(System.Logger.Level.ERROR, spec.title(), e);
        }
    }

    private void look() {
        if (clockStands) {
            return;
        }
        if (lease.lost() != null) {
            volume.tick(); // what waits for a member fails
            return;
        }
        ownership.follow(volume);
        volume.tick();
        if (++ticks % spec.options().timing().metadataTicks() == 0) {
            metadata.tick();
        }
        meter.tick(System.nanoTime());
        recovery.tend();
    }

    /** Called when another process has the volume: nothing is read or written here any more. */
    private void ownershipLost(StorageException why) {
        isBroken = true;
        opened.claims().forEach(VolumeHost.Claim::lost);
        tell(new VolumeEvent.VolumeFailed(String.valueOf(why.getMessage())));
    }

    /** Called when a slot is whole again. */
    void rebuilt(int slot) { recovery.whole(slot); }

    /** Called before the failure is noted; a member out for medium errors is noted with it, and stays out. */
    void slotFailed(int slot, StorageException cause) {
        if (cause instanceof ReservationConflictException) {
            lease.doubt();
        }
        if (cause instanceof MediumException) {
            metadata.takeOut(slot, _ -> {});
        }
        recovery.failed(slot, cause);
        tell(new VolumeEvent.MemberFailed(slot, recovery.uri(slot),
                String.valueOf(cause.getMessage())));
    }

    /** Tells listeners of an event, one event after the other, on the volume's own thread. */
    void tell(VolumeEvent event) {
        try {
            timer.execute(() -> tellNow(event));
        } catch (RejectedExecutionException _) {
            tellNow(event);
        }
    }

    private void tellNow(VolumeEvent event) {
        LOG.log(event.level(), "{0}: {1}", spec.title(), event);
        listeners.forEach(listener -> listener.accept(event));
    }

    /** Adds a listener for later events, called on the volume's own thread; it must neither block nor throw. */
    public void addListener(Consumer<VolumeEvent> listener) {
        listeners.add(listener);
    }

    // --- state ---

    /** Returns the spec that the volume was opened with; its members may have moved since. */
    public VolumeSpec spec() {
        return spec;
    }

    /** The UUID of the volume. */
    public UUID uuid() {
        return metadata.record().description().uuid();
    }

    /** Returns the current status. */
    public VolumeStatus status() {
        VolumeDescription what = metadata.record().description();
        VolumeState state = volume.state();
        var slots = new ArrayList<VolumeStatus.Slot>();
        for (int slot = 0; slot < Math.min(state.slots().size(), recovery.slotCount()); slot++) {
            slots.add(new VolumeStatus.Slot(slot, recovery.uri(slot),
                    metadata.record().members().get(slot).uuid(), state.slots().get(slot),
                    recovery.why(slot), volume.repairs(slot), errors.get(slot)));
        }
        long bad = metadata.lostBlockCount();
        return new VolumeStatus(spec.title(), what.uuid(), what.level(), volume.sizeBytes(),
                volume.blockSize(), volume.shape().chunkBytes(), what.consistency(),
                what.layout().hasChecksums(),
                lease.lost() == null ? VolumeHealth.of(volume) : VolumeHealth.FAILED, slots,
                scans.status(),
                scans.lastScrub(), spares.status(),
                opened.journal() == null ? Optional.empty() : spec.journal(), bad,
                meter.traffic());
    }

    /** The slot with a device, named by its number or its URI. */
    public int slot(String text) throws InvalidRequestException {
        int count = volume.shape().members();
        return recovery.slotOf(text).orElseThrow(() -> new InvalidRequestException(spec.title()
                + " has no slot " + DeviceUri.withoutSecret(text) + ": there are 0 to "
                + (count - 1) + ", and their URIs"));
    }

    // --- operator requests ---

    /**
     * Takes a member out, until the operator {@link #add}s it again or puts another in its place. Blocks until that is
     * stable on the others.
     *
     * @throws InvalidRequestException when the volume cannot do without it
     */
    public void fail(int slot) throws StorageException { recovery.fail(slot); }

    /**
     * Puts another device in a slot, after failing the slot's member if it has not failed, and begins to rebuild it.
     * Blocks until that is stable on the others.
     *
     * @param force whether what is on the device may be destroyed; a running volume's is refused all the same
     */
    public void replace(int slot, String uri, boolean force) throws StorageException {
        recovery.replace(slot, uri, force);
    }

    /**
     * Takes back a member that was taken out, or makes a device a spare. Blocks.
     *
     * @param name URI, or the number of a slot
     * @param force whether what is on a new spare may be destroyed; a running volume's is refused all the same
     * @return the slot; empty for a spare
     */
    public OptionalInt add(String name, boolean force) throws StorageException {
        OptionalInt slot = recovery.slotOf(name);
        if (slot.isEmpty()) {
            spares.add(name, force);
        } else {
            recovery.takeBack(slot.getAsInt());
        }
        return slot;
    }

    /**
     * Removes a spare from the volume and erases its superblock. Blocks.
     *
     * @param name its URI, or its UUID
     */
    public void remove(String name) throws StorageException {
        OptionalInt slot = recovery.slotOf(name);
        if (slot.isPresent()) {
            throw new InvalidRequestException(DeviceUri.withoutSecret(name)
                    + " is the member of slot " + slot.getAsInt()
                    + ", not a spare: put another in its place with 'replace'");
        }
        spares.remove(name);
    }

    /**
     * Adds a member to the volume: a linear volume has more blocks then, a mirror one more copy, and other levels have
     * more blocks after a reshape. Blocks until that is stable; requests wait for some milliseconds.
     *
     * @param force whether what is on the device may be destroyed; a running volume's is refused all the same
     * @return the new slot, which a mirror begins to rebuild, and striped levels to reshape onto
     * @throws InvalidRequestException if the volume cannot grow, now or at all; the message is one line
     */
    public int grow(String uri, boolean force) throws StorageException {
        return recovery.grow(growing, uri, force);
    }

    /**
     * Begins a scrub: reads and compares everything.
     *
     * @param repairing whether mismatches are repaired
     * @return false if a scrub is under way already
     * @throws BusyException while the volume is being reshaped
     */
    public boolean scrub(boolean repairing) throws BusyException {
        return scrub(repairing, spec.options().rebuildBytesPerSecond());
    }

    /**
     * Like {@link #scrub(boolean)}, but with a rate limit of its own.
     *
     * @param bytesPerSecond limit on each member, or {@link RunOptions#UNLIMITED}
     * @throws IllegalArgumentException if the limit is too low; the message is one line for the operator
     */
    public boolean scrub(boolean repairing, long bytesPerSecond) throws BusyException {
        RunOptions.requireRate(bytesPerSecond);
        recovery.requireOneLayout();
        return scans.beginScrub(repairing, bytesPerSecond);
    }

    /** Cancels the scrub that is under way, if there is one. */
    public void cancelScrub() {
        scans.cancel(ScanKind.SCRUB);
    }

    /**
     * Ends the backoff of all recovery: members and spares that are away are reopened, and rebuilds, a resync or a
     * reshape that have stopped begin again, within the next ticks. Members that were taken out stay out.
     */
    public void retryRecovery() {
        recovery.retryNow();
        spares.retryNow();
    }

    // --- requests ---

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (stoppedInOrder && request.operation() == Operation.FLUSH) {
            return; // all is stable
        }
        StorageException lost = lease.takenOver();
        if (lost != null) {
            throw lost;
        }
        meter.count(request);
        volume.execute(request);
    }

    @Override
    public void submit(BlockRequest request) {
        StorageException lost = lease.takenOver();
        if (lost != null) {
            RequestCompletion.fail(request, lost);
            return;
        }
        meter.count(request);
        volume.submit(request);
    }

    /** {@inheritDoc} False while the ownership of the volume has yet to be confirmed. */
    @Override
    public boolean isCurrent() { return lease.isValid(); }

    @Override
    public String toString() { return spec.title(); }

    // --- the end ---

    /** Stops the volume in order: all requests are done and stable, and the members record that. Blocks. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            awaitEnd();
            return;
        }
        boolean isInterrupted = Thread.interrupted(); // the end takes its time all the same
        boolean inOrder = false;
        try {
            inOrder = stop();
        } catch (InterruptedException _) {
            isInterrupted = true;
        } finally {
            stoppedInOrder = inOrder;
            end(inOrder);
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void awaitEnd() {
        try {
            ended.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean stop() throws InterruptedException {
        var most = spec.options().timing().stop();
        if (!hasEnded(volume::drain)) {
            return false;
        }
        boolean isTended = recovery.end(most);
        isStill = scans.end(most) && isTended;
        if (isBroken) {
            return false;
        }
        VolumeState state = volume.state();
        // After a stop in order, an incomplete resync would not be noticed at the next start.
        if (!state.serving() || state.resyncedStripes().isPresent() || !flush(state)) {
            return false;
        }
        var noted = new CountDownLatch(1);
        var isNoted = new AtomicBoolean();
        metadata.stop(failure -> {
            isNoted.set(failure == null);
            noted.countDown();
        });
        boolean isOver = noted.await(most.toNanos(), TimeUnit.NANOSECONDS);
        isStill &= isOver;
        return isOver && isNoted.get();
    }

    private void closeMembers() {
        try {
            volume.close();
        } catch (StorageException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}: {1}", spec.title(), e.getMessage());
        }
    }

    /** Runs an action that may hang; returns false on timeout, which is short once the volume has failed. */
    private boolean hasEnded(Runnable what) throws InterruptedException {
        Thread thread = Thread.ofPlatform().daemon().name("raid-end").start(what);
        long begunNs = System.nanoTime();
        while (!thread.join(LOOK)) {
            Duration most = volume.state().serving()
                    ? spec.options().timing().stop()
                    : FAILED_STOP;
            if (System.nanoTime() - begunNs > most.toNanos()) {
                return false;
            }
        }
        return true;
    }

    private boolean flush(VolumeState state) {
        boolean isStable = true;
        for (int slot = 0; slot < state.slots().size(); slot++) {
            BlockDevice member = volume.member(slot);
            if (member != null && state.slots().get(slot) != SlotState.FAILED) {
                try {
                    member.flush();
                } catch (StorageException e) {
                    LOG.log(System.Logger.Level.WARNING, "{0}: slot {1} cannot be flushed: {2}",
                            spec.title(), slot, e.getMessage());
                    isStable = false;
                }
            }
        }
        return isStable;
    }

    private void end(boolean inOrder) {
        try {
            tell(new VolumeEvent.Stopped(inOrder)); // after all that was told before
            timer.shutdown();
            if (isStill) {
                ownership.release();
            }
            ownership.end();
            if (!hasEnded(this::closeMembers)) {
                LOG.log(System.Logger.Level.WARNING, "{0}: requests hang, and are left behind",
                        spec.title());
            }
            boolean _ = timer.awaitTermination(FAILED_STOP.toNanos(), TimeUnit.NANOSECONDS);
            recovery.awaitTended(FAILED_STOP);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            spares.close();
            CandidateSearch.closeQuietly(opened.journal());
            workers.shutdown();
            opened.claims().forEach(VolumeHost.Claim::close);
            ended.countDown();
        }
    }
}
