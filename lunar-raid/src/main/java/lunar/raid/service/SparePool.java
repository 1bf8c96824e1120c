package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.superblock.SuperblockStore;
import org.jspecify.annotations.Nullable;

/**
 * The spares of a running volume, which this pool owns: those that its superblocks name are open, so that one can be
 * taken at once; those that are away are reopened with backoff; those that only the operator has named get a
 * superblock, if that destroys nothing.
 */
final class SparePool {
    /**
     * A spare at the start.
     *
     * @param uri empty if it is not known where the spare is
     * @param member its entry in the table; empty if it has none yet, as far as known
     * @param device null if it is not open
     */
    public record Known(String uri, Optional<UUID> member, @Nullable BlockDevice device,
            String why) {}

    /** A spare that is to come into a slot. */
    record Taken(String uri, BlockDevice device) {}

    private static final class Spare {
        final String uri;
        Optional<UUID> member;
        @Nullable
        BlockDevice device;
        String why;
        int failures;
        long nextNs = System.nanoTime();

        Spare(Known known) {
            uri = known.uri;
            member = known.member;
            device = known.device;
            why = known.why;
        }
    }

    private final MemberOpener opener;
    private final RunTiming timing;
    private final Consumer<VolumeEvent> events;
    private volatile VolumeMetadata metadata;
    private final AtomicBoolean isTending = new AtomicBoolean();
    /** Held while the table changes; never while a device is opened. */
    private final ReentrantLock changing = new ReentrantLock();
    /** Guarded by this, together with the state of each spare. */
    private final List<Spare> spares = new ArrayList<>();
    private boolean closed;

    SparePool(VolumeMetadata metadata, List<Known> known, MemberOpener opener, RunTiming timing,
            Consumer<VolumeEvent> events) {
        this.metadata = metadata;
        this.opener = opener;
        this.timing = timing;
        this.events = events;
        known.forEach(one -> spares.add(new Spare(one)));
    }

    /** Work during which the table must not change. */
    @FunctionalInterface
    interface Work {
        void run() throws StorageException;
    }

    /** Runs work while no spare is added or removed. Blocks until a change in progress has ended. */
    void keepStill(Work work) throws StorageException {
        changing.lock();
        try {
            work.run();
        } finally {
            changing.unlock();
        }
    }

    /** Sets the metadata after the volume has grown. */
    void grown(VolumeMetadata other) {
        metadata = other;
    }

    synchronized boolean isEmpty() { return spares.isEmpty(); }

    synchronized List<VolumeStatus.Spare> status() {
        return spares.stream()
                .map(one -> new VolumeStatus.Spare(one.uri, one.member, one.why)).toList();
    }

    /** Whether a device is a spare, or is to be one. */
    synchronized boolean has(String uri) {
        return find(uri).isPresent();
    }

    private synchronized Optional<Spare> find(String name) {
        return spares.stream().filter(one -> one.uri.equals(name)
                || one.member.filter(uuid -> uuid.toString().equals(name)).isPresent())
                .findFirst();
    }

    /** Reopens spares that are away, unless that is under way. Blocks for as long as they take. */
    void tend() {
        if (isTending.compareAndSet(false, true)) {
            try {
                tendNow();
            } finally {
                isTending.set(false);
            }
        }
    }

    private void tendNow() {
        List<Spare> all;
        synchronized (this) {
            all = List.copyOf(spares);
        }
        loseThoseAway(all);
        for (Spare one : all) {
            if (isDue(one)) {
                try {
                    join(one, false);
                } catch (StorageException | IllegalArgumentException e) {
                    synchronized (this) {
                        one.why = String.valueOf(e.getMessage());
                    }
                }
            }
        }
    }

    /** Closes spares that are away; not while one is being taken, which seems to be away before it is in its slot. */
    private void loseThoseAway(List<Spare> all) {
        if (!changing.tryLock()) {
            return;
        }
        try {
            all.stream().filter(this::isLost).forEach(this::lose);
        } finally {
            changing.unlock();
        }
    }

    private synchronized boolean isLost(Spare one) {
        return one.device != null && metadata.spares().stream().anyMatch(
                line -> Optional.of(line.uuid()).equals(one.member) && line.isAway());
    }

    private void lose(Spare one) {
        BlockDevice device;
        synchronized (this) {
            device = one.device;
            one.device = null;
            one.why = "it does not take a superblock";
            one.failures = 1;
            one.nextNs = System.nanoTime() + timing.retryAfter(1).toNanos();
        }
        CandidateSearch.closeQuietly(device);
    }

    /** Ends the backoff of all spares that are away. */
    synchronized void retryNow() {
        long now = System.nanoTime();
        spares.forEach(one -> one.nextNs = now);
    }

    private synchronized boolean isDue(Spare one) {
        if (one.device != null || one.uri.isEmpty() || System.nanoTime() - one.nextNs < 0) {
            return false;
        }
        one.failures++;
        one.nextNs = System.nanoTime() + timing.retryAfter(one.failures).toNanos();
        return true;
    }

    /** Makes a device a spare, or takes it back as the spare that it is. */
    private void join(Spare one, boolean force) throws StorageException {
        BlockDevice device = opener.open(one.uri);
        boolean done = false;
        changing.lock();
        try {
            if (isOpen(one)) { // another thread was faster
                return;
            }
            Optional<UUID> line = line(device);
            if (line.isPresent()) {
                metadata.returnSpare(line.get(), device);
            } else {
                NewDeviceCheck.require(metadata, one.uri, device, force);
                UUID fresh = UUID.randomUUID();
                line = Optional.of(fresh);
                TableChange.await(kept -> metadata.addSpare(
                        DeviceUri.withoutSecret(one.uri), device, fresh, kept),
                        timing.stop());
            }
            done = joined(one, device, line);
        } finally {
            changing.unlock();
            if (!done) {
                device.close();
            }
        }
        events.accept(new VolumeEvent.SpareAdded(one.uri));
    }

    private synchronized boolean isOpen(Spare one) { return closed || one.device != null; }

    private synchronized boolean joined(Spare one, BlockDevice device, Optional<UUID> line) {
        if (closed) {
            return false;
        }
        one.device = device;
        one.member = line;
        one.why = "";
        one.failures = 0;
        if (!spares.contains(one)) {
            spares.add(one);
        }
        spares.removeIf(other -> other.uri.isEmpty() && other.member.equals(one.member));
        return true;
    }

    /** Returns the table entry of a device; empty if it has none, or was in use as a member without this volume. */
    private Optional<UUID> line(BlockDevice device) {
        if (new SuperblockStore(device).read() instanceof SuperblockReading.Found(Superblock found)
                && found.member().state() != SlotState.ACTIVE
                && found.volume().description().uuid()
                        .equals(metadata.record().description().uuid())
                && metadata.spares().stream()
                        .anyMatch(spare -> spare.uuid().equals(found.memberUuid()))) {
            return Optional.of(found.memberUuid());
        }
        return Optional.empty();
    }

    // --- operator requests ---

    /**
     * Adds a spare, or reopens one that is away at once. Blocks.
     *
     * @param force whether its content may be destroyed
     */
    void add(String uri, boolean force) throws StorageException {
        Optional<Spare> known = find(uri);
        synchronized (this) {
            if (known.isPresent() && known.get().device != null) {
                throw new InvalidRequestException(
                        DeviceUri.withoutSecret(uri) + " is a spare already");
            }
        }
        join(known.orElseGet(() -> new Spare(new Known(uri, Optional.empty(), null, ""))), force);
    }

    /** Removes a spare and erases its superblock. Blocks. */
    void remove(String name) throws StorageException {
        Spare one = find(name).orElseThrow(() -> new InvalidRequestException(
                DeviceUri.withoutSecret(name) + " is no spare of this volume"));
        CandidateSearch.closeQuietly(withdraw(one));
        events.accept(new VolumeEvent.SpareRemoved(one.uri));
    }

    /** Removes and erases a spare named for a slot; the caller owns it then. Empty if none is open. Blocks. */
    Optional<BlockDevice> withdraw(String uri) throws StorageException {
        Optional<Spare> one = find(uri);
        return one.isEmpty() ? Optional.empty() : Optional.ofNullable(withdraw(one.get()));
    }

    private @Nullable BlockDevice withdraw(Spare one) throws StorageException {
        changing.lock();
        try {
            return withdrawNow(one);
        } finally {
            changing.unlock();
        }
    }

    private @Nullable BlockDevice withdrawNow(Spare one) throws StorageException {
        BlockDevice device;
        Optional<UUID> member;
        synchronized (this) {
            device = one.device;
            member = one.member;
        }
        if (member.isPresent()) {
            TableChange.await(kept -> metadata.removeSpare(member.get(), kept), timing.stop());
        }
        synchronized (this) {
            spares.remove(one);
        }
        if (device != null) {
            try {
                Creation.destroy(device);
            } catch (StorageException e) { // the volume does without it anyway
                System.getLogger("lunar.raid").log(System.Logger.Level.WARNING,
                        "{0} keeps its superblock: {1}", DeviceUri.withoutSecret(one.uri),
                        e.getMessage());
            }
        }
        return device;
    }

    /** Takes the spare that fits a failed slot best; the volume is to replace the slot's member by it. Blocks. */
    Optional<Taken> take(int slot) throws StorageException {
        if (!changing.tryLock()) {
            return Optional.empty(); // a spare is just being added
        }
        try {
            Optional<BlockDevice> device = metadata.takeSpare(slot);
            return device.isEmpty() ? Optional.empty() : Optional.of(taken(device.get()));
        } finally {
            changing.unlock();
        }
    }

    private synchronized Taken taken(BlockDevice device) {
        for (Spare one : spares) {
            if (device.equals(one.device)) {
                spares.remove(one);
                return new Taken(one.uri, device);
            }
        }
        throw new IllegalStateException("a spare that has not been opened");
    }

    /** Closes all spares: nothing is written to them any more. */
    synchronized void close() {
        closed = true;
        for (Spare one : spares) {
            CandidateSearch.closeQuietly(one.device);
            one.device = null;
        }
    }
}
