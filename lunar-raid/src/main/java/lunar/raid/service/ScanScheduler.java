package lunar.raid.service;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.Pace;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.engine.VolumeEngine;
import org.jspecify.annotations.Nullable;

/** Starts, throttles and reports a volume's background scans: rebuilds, a resync, a scrub, a reshape. */
final class ScanScheduler {
    /** Bytes per member between two checkpoints, each of which costs a flush and a superblock write. */
    private static final long SAVE_BYTES = 64 << 20;
    private static final double NS = 1e9;

    /** A scan in progress. */
    private static final class Active {
        final ScanKind kind;
        final OptionalInt slot;
        final @Nullable RatePace pace;
        final long beganNs = System.nanoTime();
        final boolean repairs;
        volatile @Nullable BackgroundScan scan;
        volatile long from;

        Active(ScanKind kind, OptionalInt slot, @Nullable RatePace pace, boolean repairs) {
            this.kind = kind;
            this.slot = slot;
            this.pace = pace;
            this.repairs = repairs;
        }
    }

    private final VolumeEngine volume;
    private final RunOptions options;
    private final ScheduledExecutorService timer;
    private final Consumer<VolumeEvent> events;
    private final AtomicLong repairs;
    /** Guarded by this, as are the next three. */
    private final List<Active> active = new ArrayList<>();
    private Optional<ScrubResult> lastScrub = Optional.empty();
    private boolean closing;
    private boolean isHeld;

    /** @param repairs counts ranges that are repaired */
    ScanScheduler(VolumeEngine volume, RunOptions options, ScheduledExecutorService timer,
            AtomicLong repairs, Consumer<VolumeEvent> events) {
        this.volume = volume;
        this.options = options;
        this.timer = timer;
        this.repairs = repairs;
        this.events = events;
    }

    /** Whether a scan of all slots is under way. */
    boolean has(ScanKind kind) {
        return has(kind, OptionalInt.empty());
    }

    /** Whether a slot is being rebuilt. */
    boolean hasRebuild(int slot) {
        return has(ScanKind.REBUILD, OptionalInt.of(slot));
    }

    private synchronized boolean has(ScanKind kind, OptionalInt slot) {
        return active.stream().anyMatch(one -> one.kind == kind && one.slot.equals(slot));
    }

    /** Waits for the end of the rebuild of a slot that has failed; returns false on timeout. */
    synchronized boolean awaitRebuildEnd(int slot, Duration most)
            throws InterruptedException {
        long until = System.nanoTime() + most.toNanos();
        while (hasRebuild(slot)) {
            long leftMs = (until - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                return false;
            }
            wait(leftMs);
        }
        return true;
    }

    synchronized Optional<ScrubResult> lastScrub() { return lastScrub; }

    /** Begins a scan of all slots, unless there is one of that kind already, or none may begin. */
    boolean begin(ScanKind kind, Function<ScanOptions, BackgroundScan> start) {
        return begin(kind, OptionalInt.empty(), options.rebuildBytesPerSecond(), false, start);
    }

    /** Begins the rebuild of a slot, unless it is under way already, or no scan may begin. */
    boolean beginRebuild(int slot, Function<ScanOptions, BackgroundScan> start) {
        return begin(ScanKind.REBUILD, OptionalInt.of(slot), options.rebuildBytesPerSecond(), false,
                start);
    }

    /**
     * Begins a scrub.
     *
     * @param perMember limit of its bytes per second on each member, or {@link RunOptions#UNLIMITED}
     */
    boolean beginScrub(boolean repairing, long perMember) {
        return begin(ScanKind.SCRUB, OptionalInt.empty(), perMember, repairing,
                how -> volume.scrub(repairing, how));
    }

    private boolean begin(ScanKind kind, OptionalInt slot, long perMember, boolean repairing,
            Function<ScanOptions, BackgroundScan> start) {
        var one = new Active(kind, slot, pace(perMember), repairing);
        synchronized (this) {
            if (closing || isHeld || has(kind, slot)) {
                return false;
            }
            active.add(one);
        }
        long repairsBefore = repairs.get();
        events.accept(new VolumeEvent.ScanBegan(kind, slot));
        Pace pace = one.pace == null ? Pace.FULL : one.pace;
        boolean begun = false;
        try {
            BackgroundScan scan = start.apply(ScanOptions.DEFAULT.withPace(pace)
                    .withSaveStripes(Math.max(1, SAVE_BYTES / volume.shape().chunkBytes()))
                    .withOnEnd(ended -> ended(one, ended, repairsBefore)));
            one.from = scan.checkpoint();
            one.scan = scan;
            begun = true;
        } finally {
            if (!begun) {
                remove(one);
            }
        }
        synchronized (this) {
            if (closing) {
                cancel(one);
            }
        }
        return true;
    }

    private @Nullable RatePace pace(long perMember) {
        long units = volume.layout().units();
        return perMember == RunOptions.UNLIMITED
                ? null
                : new RatePace(Math.min(perMember, Long.MAX_VALUE / units) * units, timer,
                        System::nanoTime);
    }

    private synchronized void remove(Active one) {
        active.remove(one);
        notifyAll();
    }

    private void ended(Active one, BackgroundScan scan, long repairsBefore) {
        StorageException failure = scan.failure();
        String why = failure == null ? "" : String.valueOf(failure.getMessage());
        if (scan instanceof Scrub scrub) {
            var result = new ScrubResult(scrub.checkpoint(), scrub.mismatches(),
                    repairs.get() - repairsBefore, scrub.skipped(), one.repairs, why);
            synchronized (this) {
                lastScrub = Optional.of(result);
            }
            events.accept(new VolumeEvent.Scrubbed(result));
        }
        remove(one);
        events.accept(new VolumeEvent.ScanEnded(one.kind, one.slot, why));
    }

    /** Lets no scan begin until {@link #release}; returns false, and holds nothing, if one is under way. */
    synchronized boolean hold() {
        isHeld = active.isEmpty();
        return isHeld;
    }

    synchronized void release() { isHeld = false; }

    /** Cancels the scans of a kind after their current step; they can be resumed later from their checkpoint. */
    synchronized void cancel(ScanKind kind) {
        active.stream().filter(one -> one.kind == kind).forEach(ScanScheduler::cancel);
    }

    private static void cancel(Active one) {
        if (one.scan != null) {
            one.scan.cancel();
        }
        if (one.pace != null) {
            one.pace.release();
        }
    }

    /** Cancels all scans, and waits for their end; returns false on timeout. No more scans begin. */
    synchronized boolean end(Duration most) throws InterruptedException {
        closing = true;
        active.forEach(ScanScheduler::cancel);
        long until = System.nanoTime() + most.toNanos();
        while (!active.isEmpty()) {
            long leftMs = (until - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                return false;
            }
            wait(leftMs);
        }
        return true;
    }

    synchronized List<VolumeStatus.Scan> status() {
        var all = new ArrayList<VolumeStatus.Scan>();
        for (Active one : active) {
            BackgroundScan scan = one.scan;
            if (scan != null) {
                all.add(status(one, scan));
            }
        }
        return all;
    }

    private VolumeStatus.Scan status(Active one, BackgroundScan scan) {
        long at = scan.checkpoint();
        double seconds = Math.max((System.nanoTime() - one.beganNs) / NS, 1e-3);
        double perSecond = (at - one.from) / seconds;
        long memberBytes = volume.shape().memberBlocks().getFirst() * volume.blockSize();
        long bytes = (long) (perSecond * memberBytes / Math.max(1, scan.stripes()));
        return new VolumeStatus.Scan(one.kind, one.slot, at, scan.stripes(), bytes,
                perSecond > 0
                        ? OptionalLong.of(Math.round((scan.stripes() - at) / perSecond))
                        : OptionalLong.empty());
    }
}
