package lunar.raid.service;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceUri;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.superblock.SuperblockStore;

/**
 * Restores a volume's redundancy: reopens missing members with exponential backoff, activates spares, and resumes
 * rebuilds and the resync. Requests of operators (fail, remove, replace, add) go the same way, so that slots change one
 * at a time.
 */
final class RecoveryCoordinator {
    private final VolumeEngine volume;
    private volatile VolumeMetadata metadata;
    private volatile StableFailures kept;
    private final SparePool spares;
    private final ScanScheduler scans;
    private final MemberOpener opener;
    private final RunTiming timing;
    private final Executor workers;
    private final Consumer<VolumeEvent> events;
    private final AtomicBoolean isTending = new AtomicBoolean();
    private volatile CountDownLatch tended = new CountDownLatch(0);
    /** Held while a slot gets another member; its holder may block. */
    private final ReentrantLock changing = new ReentrantLock();
    private final SlotRegistry slots;
    /** The earliest time at which a resync or reshape is begun again. Guarded by this. */
    private final Map<ScanKind, Long> nextNs = new EnumMap<>(ScanKind.class);
    private volatile boolean closing;

    RecoveryCoordinator(VolumeEngine volume, VolumeOpening.Opened opened, StableFailures kept,
            SparePool spares,
            ScanScheduler scans, MemberOpener opener, RunTiming timing, Executor workers,
            Consumer<VolumeEvent> events) {
        this.volume = volume;
        this.metadata = opened.metadata();
        this.kept = kept;
        this.spares = spares;
        this.scans = scans;
        this.opener = opener;
        this.timing = timing;
        this.workers = workers;
        this.events = events;
        slots = new SlotRegistry(opened, timing);
    }

    // --- state ---

    String uri(int slot) { return slots.uri(slot); }

    private String shown(int slot) { return DeviceUri.withoutSecret(uri(slot)); }

    String why(int slot) { return slots.why(slot); }

    /** Returns the number of slots that both the volume and the registry have. */
    int slotCount() {
        return Math.min(slots.count(), volume.shape().members());
    }

    /** Notes that a slot's member has failed. */
    void failed(int slot, StorageException cause) {
        slots.failed(slot, cause);
    }

    /** Notes that a slot has all data again. */
    void whole(int slot) { slots.whole(slot); }

    // --- tending ---

    /** Tends slots, scans and spares on a thread of its own, unless that is under way. */
    void tend() {
        if (!closing && isTending.compareAndSet(false, true)) {
            boolean hasSpares = !spares.isEmpty();
            var done = new CountDownLatch(hasSpares ? 2 : 1);
            tended = done;
            workers.execute(() -> {
                try {
                    tendNow();
                } finally {
                    isTending.set(false);
                    done.countDown();
                }
            });
            if (hasSpares) {
                workers.execute(() -> {
                    try {
                        spares.tend();
                    } finally {
                        done.countDown();
                    }
                });
            }
        }
    }

    /**
     * Waits, after {@link #end}, until no device is being opened any more: it would be in use at the next start. A
     * device that hangs is closed when it answers.
     */
    void awaitTended(Duration most) throws InterruptedException {
        boolean _ = tended.await(most.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Begins scans that are due and need no device opened. */
    void tendScans() {
        VolumeState state = volume.state();
        if (!state.serving()) {
            return;
        }
        if (volume.isReshaping()) { // failed slots are tended when it is complete
            tendReshape();
            return;
        }
        if (state.resyncedStripes().isPresent() && !scans.has(ScanKind.RESYNC)
                && isDue(ScanKind.RESYNC)) {
            boolean _ = scans.begin(ScanKind.RESYNC, this::resync);
        }
        for (int slot = 0; slot < state.slots().size(); slot++) {
            int one = slot;
            if (state.slots().get(slot) == SlotState.REBUILDING
                    && !scans.hasRebuild(slot) && slots.isDue(slot)) {
                try {
                    boolean _ = scans.beginRebuild(slot,
                            how -> volume.rebuild(one, how));
                } catch (IllegalArgumentException _) {
                    // It has failed just now.
                }
            }
        }
    }

    /** Begins the reshape, or first the resync that a crash has left due, unless that is to come afterwards. */
    private void tendReshape() {
        boolean isStale = volume.state().resyncedStripes().isPresent() && !volume.reshapesFirst();
        ScanKind kind = isStale ? ScanKind.RESYNC : ScanKind.RESHAPE;
        if (scans.has(ScanKind.RESYNC) || scans.has(ScanKind.RESHAPE)
                || !isDue(kind)) {
            return;
        }
        boolean begun = false;
        try {
            begun = scans.begin(kind, isStale ? this::resync : volume::reshape);
        } catch (IllegalStateException _) {
            // It is complete, or another scan is just ending.
        }
        if (!begun) { // such as while growing still holds all scans
            soon(kind);
        }
    }

    private BackgroundScan resync(ScanOptions how) {
        return volume.resync(how.withOnEnd(scan -> {
            if (scan.failure() == null && volume.state().resyncedStripes().isEmpty()) {
                soon(ScanKind.RESYNC); // only what has not gone well waits: the next loss does not
            }
            how.onEnd().accept(scan);
            tendScans();
        }));
    }

    /** Lets a scan begin at the next tick, however recently the last one began. */
    private synchronized void soon(ScanKind kind) {
        nextNs.remove(kind);
    }

    /** Lets all slots and scans that wait for their backoff be tended at the next tick. */
    void retryNow() {
        slots.retryNow();
        synchronized (this) {
            nextNs.clear();
        }
    }

    /** @throws BusyException while blocks are being moved, since other changes wait for that */
    void requireOneLayout() throws BusyException {
        if (volume.isReshaping()) {
            throw new BusyException("the volume is being reshaped: wait until that has ended");
        }
    }

    private void tendNow() {
        tendScans();
        for (int slot = 0; slot < slotCount() && !closing && !volume.isReshaping(); slot++) {
            if (isWaiting(slot)) {
                tend(slot);
            }
        }
    }

    private boolean isWaiting(int slot) {
        VolumeState state = volume.state();
        return state.serving() && !volume.isReshaping()
                && state.slots().get(slot) == SlotState.FAILED;
    }

    private void tend(int slot) {
        if (slots.isDue(slot) && !slots.isOut(slot) && bringBack(slot)) {
            return;
        }
        if (!spares.isEmpty() && slots.isSpareDue(slot)) {
            takeSpare(slot);
        }
    }

    private synchronized boolean isDue(ScanKind kind) {
        long now = System.nanoTime();
        if (now - nextNs.getOrDefault(kind, now) < 0) {
            return false;
        }
        nextNs.put(kind, now + timing.lastRetry().toNanos());
        return true;
    }

    // --- members that come back ---

    private boolean bringBack(int slot) {
        closeFailed(slot);
        String why = "";
        for (String uri : slots.uris(slot)) {
            if (uri.isEmpty() || closing || slots.isTakenByOther(slot, uri)) {
                continue;
            }
            Optional<String> obstacle = bringBack(slot, uri, false);
            if (obstacle.isEmpty()) {
                return true;
            }
            why = why.isEmpty() ? obstacle.get() : why;
        }
        slots.note(slot, why);
        return false;
    }

    /** Closes the member of a slot if it has failed, not one that has just come into the slot. */
    private void closeFailed(int slot) {
        BlockDevice before = volume.member(slot);
        if (volume.state().slots().get(slot) == SlotState.FAILED) {
            CandidateSearch.closeQuietly(before);
        }
    }

    /** Reopens a slot's member; returns why that failed, or empty if it is back and gets what it missed. */
    private Optional<String> bringBack(int slot, String uri, boolean isWanted) {
        BlockDevice device = null;
        try {
            device = opener.open(uri);
            SuperblockReading reading = new SuperblockStore(device).read();
            UUID wanted = metadata.record().members().get(slot).uuid();
            if (!(reading instanceof SuperblockReading.Found(Superblock found))
                    || !found.memberUuid().equals(wanted)
                    || !found.volume().description().uuid()
                            .equals(metadata.record().description().uuid())) {
                CandidateSearch.closeQuietly(device);
                return Optional.of("there is a device, and it is not the member of this slot: "
                        + "replace it");
            }
            changing.lock();
            try {
                if (closing || !isWaiting(slot) || (slots.isOut(slot) && !isWanted)
                        || slots.isTakenByOther(slot, uri)) { // another thread was faster
                    CandidateSearch.closeQuietly(device);
                    return Optional.of("");
                }
                awaitNoted(slot);
                if (metadata.wasUsedAlone(found)) {
                    CandidateSearch.closeQuietly(device);
                    return Optional.of("it was used without the other members: replace it, where"
                            + " what was written to it then is to be lost");
                }
                boolean covered = metadata.covers(found);
                put(slot, uri, device, wanted, covered,
                        new VolumeEvent.MemberReturned(slot, uri, covered));
            } finally {
                changing.unlock();
            }
            return Optional.empty();
        } catch (StorageException | IllegalArgumentException e) {
            CandidateSearch.closeQuietly(device);
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Puts a device in a slot that has failed, reports that, and begins its rebuild. */
    private void put(int slot, String uri, BlockDevice device, UUID member, boolean covered,
            VolumeEvent told) throws StorageException {
        requireFit(device, uri);
        awaitFree(slot);
        metadata.admit(slot, device, member, !covered);
        slots.changed(slot, uri);
        events.accept(told);
        long at = dataOffset();
        boolean _ = scans.beginRebuild(slot, how -> covered
                ? volume.readmit(slot, device, at, metadata::missed, how)
                : volume.replace(slot, device, at, how));
    }

    /** Waits until another member may come into a slot. */
    private void awaitFree(int slot) throws StorageException {
        awaitNoted(slot);
        boolean isFree;
        try {
            isFree = scans.awaitRebuildEnd(slot, timing.stop());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeviceGoneException("interrupted", e);
        }
        if (closing) {
            throw new DeviceGoneException("the volume is being closed");
        }
        if (!isFree) {
            throw new BusyException("a rebuild of slot " + slot + " does not end: try again");
        }
    }

    private void awaitNoted(int slot) throws StorageException {
        try {
            kept.awaitFailed(slot, timing.stop());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DeviceGoneException("interrupted", e);
        }
    }

    private long dataOffset() {
        var what = metadata.record().description();
        return what.layout().dataBytes() / what.blockSize();
    }

    private void requireFit(BlockDevice device, String uri) throws InvalidRequestException {
        if (device.blockSize() != volume.blockSize()) {
            throw new InvalidRequestException(DeviceUri.withoutSecret(uri)
                    + " has blocks of " + device.blockSize() + " bytes, and the volume of "
                    + volume.blockSize());
        }
        long needed = dataOffset() + Collections.max(volume.shape().memberBlocks());
        if (device.blockCount() < needed) {
            throw new InvalidRequestException(DeviceUri.withoutSecret(uri)
                    + " is too small: it has " + device.sizeBytes() + " bytes, and a member needs "
                    + needed * device.blockSize());
        }
    }

    // --- spares ---

    private void takeSpare(int slot) {
        changing.lock();
        try {
            if (!closing && isWaiting(slot)) {
                awaitFree(slot);
                Optional<SparePool.Taken> taken = spares.take(slot);
                if (taken.isPresent()) {
                    put(slot, taken.get());
                }
            }
        } catch (StorageException | IllegalArgumentException e) {
            slots.note(slot, String.valueOf(e.getMessage()));
        } finally {
            changing.unlock();
        }
    }

    private void put(int slot, SparePool.Taken spare) {
        boolean begun = false;
        try {
            slots.changed(slot, spare.uri());
            events.accept(new VolumeEvent.MemberReplaced(slot, spare.uri(), true));
            begun = scans.beginRebuild(slot,
                    how -> volume.replace(slot, spare.device(), dataOffset(), how));
        } finally {
            if (!begun) { // the volume ends; the device is still a spare
                CandidateSearch.closeQuietly(spare.device());
            }
        }
    }

    // --- operator requests ---

    /** Takes a slot's member out, until the operator wants it back. */
    void fail(int slot) throws StorageException {
        changing.lock();
        try {
            requireSpareable(slot);
            metadata.takeOut(slot, _ -> {});
            failNow(slot, "taken out by hand");
            awaitNoted(slot);
            TableChange.await(kept -> metadata.takeOut(slot, kept), timing.stop());
        } finally {
            changing.unlock();
        }
    }

    /** Returns the slot of a device, named by its URI or the slot's number; empty if it is in none. */
    OptionalInt slotOf(String name) {
        return slots.slotOf(name);
    }

    /** Takes back a member that was taken out, or is away. Blocks. */
    void takeBack(int slot) throws StorageException {
        requireOneLayout();
        if (volume.state().slots().get(slot) != SlotState.FAILED) {
            throw new InvalidRequestException(shown(slot) + " is in slot " + slot
                    + " already, and at work");
        }
        closeFailed(slot);
        Optional<String> obstacle = bringBack(slot, uri(slot), true);
        if (obstacle.isPresent() && volume.state().slots().get(slot) == SlotState.FAILED) {
            throw new InvalidRequestException(shown(slot) + " does not come back into slot " + slot
                    + ": " + obstacle.get());
        }
    }

    private void requireSpareable(int slot) throws InvalidRequestException {
        VolumeState state = volume.state();
        if (state.slots().get(slot) != SlotState.FAILED) {
            long lost = 1L << slot;
            for (int other = 0; other < state.slots().size(); other++) {
                lost |= state.slots().get(other) == SlotState.ACTIVE ? 0 : 1L << other;
            }
            if (!volume.shape().level().isRedundant() || !volume.survives(lost)) {
                throw new InvalidRequestException("the volume cannot do without slot " + slot
                        + " now: its data would be lost");
            }
        }
    }

    private void failNow(int slot, String why) throws StorageException {
        requireSpareable(slot);
        slots.setOut(slot);
        boolean _ = volume.fail(slot, new DeviceGoneException(why));
        slots.setOut(slot);
        slots.note(slot, why);
        BlockDevice device = volume.member(slot);
        workers.execute(() -> CandidateSearch.closeQuietly(device));
    }

    /**
     * Puts another device in a slot; fails its member first if it has not failed.
     *
     * @param force whether what is on the device may be destroyed; never if a running volume uses it
     */
    void replace(int slot, String uri, boolean force) throws StorageException {
        changing.lock();
        try {
            replaceNow(slot, uri, force);
        } finally {
            changing.unlock();
        }
    }

    private void replaceNow(int slot, String uri, boolean force) throws StorageException {
        requireOneLayout();
        if (slots.isTakenByOther(slot, uri)) {
            throw new InvalidRequestException(
                    DeviceUri.withoutSecret(uri) + " is a member already");
        }
        if (uri.equals(uri(slot))) { // the same URI, with a new device
            failNow(slot, "replaced");
            CandidateSearch.closeQuietly(volume.member(slot));
            awaitNoted(slot);
        }
        Optional<BlockDevice> spare = spares.withdraw(uri);
        BlockDevice device = spare.isPresent() ? spare.get() : opener.open(uri);
        boolean done = false;
        try {
            requireFit(device, uri);
            NewDeviceCheck.require(metadata, uri, device, force);
            if (volume.state().slots().get(slot) != SlotState.FAILED) {
                failNow(slot, "replaced by " + DeviceUri.withoutSecret(uri));
            }
            put(slot, uri, device, UUID.randomUUID(), false,
                    new VolumeEvent.MemberReplaced(slot, uri, false));
            done = true;
        } finally {
            if (!done) {
                device.close();
                if (spare.isPresent()) {
                    spares.add(uri, true); // as it was
                }
            }
        }
    }

    /** Adds a member; returns its slot. Blocks. */
    int grow(VolumeGrowth growing, String uri, boolean force) throws StorageException {
        changing.lock();
        try {
            if (slots.isTaken(uri) || spares.has(uri)) {
                throw new InvalidRequestException(
                        DeviceUri.withoutSecret(uri) + " is a member or a spare already");
            }
            BlockDevice device = opener.open(uri);
            boolean done = false;
            int slot = volume.shape().members();
            try {
                spares.keepStill(() -> growing.grow(metadata, uri, device, force));
                done = true;
            } finally {
                if (!done) {
                    device.close();
                }
            }
            slots.setUri(slot, uri);
            events.accept(new VolumeEvent.MemberAdded(slot, uri));
            tendScans();
            return slot;
        } finally {
            changing.unlock();
        }
    }

    /** Called when the volume is to resume with one more slot; its URI is set soon after. */
    synchronized void grown(VolumeMetadata other, StableFailures keptOther) {
        metadata = other;
        kept = keptOther;
        slots.add();
        soon(ScanKind.RESHAPE);
    }

    /** Begins nothing more, and waits for changes in progress; returns false if that takes too long. */
    boolean end(Duration most) throws InterruptedException {
        closing = true;
        boolean hasEnded = changing.tryLock(most.toNanos(), TimeUnit.NANOSECONDS);
        if (hasEnded) {
            changing.unlock();
        }
        return hasEnded;
    }
}
