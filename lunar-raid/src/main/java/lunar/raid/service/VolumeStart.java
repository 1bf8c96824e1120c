package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.RaidListener;
import lunar.raid.RaidOptions;
import lunar.raid.SlotState;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.Superblock;
import org.jspecify.annotations.Nullable;

/**
 * Connects the parts of a running volume while they are created, and listens to the volume from then on: events before
 * the {@link RunningVolume} exists are kept for it.
 */
final class VolumeStart implements RaidListener {
    /** Lost ranges of a slot that are reported one by one; more of them are only counted. */
    private static final long MAX_LOSSES_TOLD = 100;

    final VolumeSpec spec;
    final MemberOpener opener;
    final VolumeOpening.Opened opened;
    final ExecutorService workers;
    final ScheduledExecutorService timer;
    final AtomicLong repairs = new AtomicLong();
    final AtomicLongArray errors = new AtomicLongArray(Superblock.MAX_MEMBERS);
    /** Events before the volume exists. Guarded by this, as is the next. */
    private final List<Consumer<RunningVolume>> early = new ArrayList<>();
    private @Nullable RunningVolume running;

    VolumeStart(VolumeSpec spec, MemberOpener opener, VolumeOpening.Opened opened,
            ExecutorService workers) {
        this.spec = spec;
        this.opener = uri -> opened.ownership().guard(opener.open(uri));
        this.opened = opened;
        this.workers = workers;
        timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("raid-" + spec.name()).factory());
    }

    RunningVolume run(Consumer<VolumeEvent> listener) {
        VolumeMetadata metadata = opened.metadata();
        var kept = new StableFailures(metadata,
                metadata.record().slotsThatAre(SlotState.FAILED));
        VolumeEngine volume = VolumeEngine.of(metadata.record().shape(), metadata.raidMembers(),
                options(metadata, kept), metadata.reshaping());
        var made = new RunningVolume(this, volume, kept);
        made.addListener(listener);
        synchronized (this) {
            running = made;
        }
        early.forEach(one -> one.accept(made));
        opened.faults().connect(volume);
        made.start();
        return made;
    }

    RaidOptions options(VolumeMetadata metadata, StableFailures kept) {
        return RaidOptions.of(Identity.of("iRAID", metadata.record().description().uuid()))
                .withGuard(metadata).withKeeper(kept).withBadBlocks(metadata.badBlockList())
                .withStale(metadata.stale()).withListener(this).withCloser(workers)
                .withPolicy(spec.options().policy());
    }

    private void then(Consumer<RunningVolume> what) {
        RunningVolume there;
        synchronized (this) {
            there = running;
            if (there == null) {
                early.add(what);
                return;
            }
        }
        what.accept(there);
    }

    @Override
    public void slotFailed(int slot, StorageException cause) {
        then(there -> there.slotFailed(slot, cause));
    }

    @Override
    public void volumeFailed(StorageException cause) {
        then(there -> there.tell(
                new VolumeEvent.VolumeFailed(String.valueOf(cause.getMessage()))));
    }

    @Override
    public StorageException answer(StorageException failure) {
        return opened.ownership().lease().answer(failure);
    }

    @Override
    public void repaired(int slot, long memberBlock, long blocks) { repairs.incrementAndGet(); }

    @Override
    public void unrecoverable(int slot, long memberBlock, long blocks) {
        if (errors.incrementAndGet(slot) <= MAX_LOSSES_TOLD) {
            then(there -> there.tell(
                    new VolumeEvent.BlocksLost(slot, memberBlock, blocks)));
        }
    }

    @Override
    public void rebuilt(int slot) { then(there -> there.rebuilt(slot)); }
}
