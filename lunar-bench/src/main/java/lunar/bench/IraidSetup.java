package lunar.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.Raid;
import lunar.raid.RaidOptions;
import lunar.raid.RaidVolume;
import lunar.raid.layout.Level;
import lunar.raid.meta.Assembly;
import lunar.raid.meta.Assembly.Outcome;
import lunar.raid.meta.Candidate;
import lunar.raid.meta.Composition;
import lunar.raid.meta.Consistency;
import lunar.raid.meta.Creation;
import lunar.raid.meta.VolumeMetadata;
import org.jspecify.annotations.Nullable;

/**
 * What is measured: one target, or a volume over several.
 *
 * @param level null for a target by itself
 * @param targets how many
 * @param degraded whether a member is failed
 */
record IraidSetup(String name, @Nullable Level level, Consistency consistency, int targets,
        boolean degraded) {
    static final int CHUNK_BYTES = 64 << 10;
    /** As much as a member of 4 GiB has. */
    private static final long JOURNAL_BYTES = 16 << 20;
    private static final int TICK_MS = 1000;

    static final IraidSetup TARGET = new IraidSetup("iSCSI", null, Consistency.NONE, 1, false);

    static IraidSetup striped(int targets) {
        return new IraidSetup("S-iRAID of " + targets, Level.RAID0, Consistency.NONE, targets,
                false);
    }

    static IraidSetup parity(int targets) {
        return new IraidSetup("P-iRAID of " + targets, Level.RAID5, Consistency.JOURNAL, targets,
                false);
    }

    /** As the paper's, which had nothing against the write hole. */
    static IraidSetup withoutJournal(int targets) {
        return new IraidSetup("P-iRAID of " + targets + ", no journal", Level.RAID5,
                Consistency.BITMAP, targets, false);
    }

    static IraidSetup degraded(int targets) {
        return new IraidSetup("P-iRAID of " + targets + ", degraded", Level.RAID5,
                Consistency.JOURNAL, targets, true);
    }

    /** Data of a stripe. */
    int stripeBytes() {
        return CHUNK_BYTES * (level == Level.RAID5 ? targets - 1 : targets);
    }

    /**
     * What requests go to; owns the LUNs, which hold zeroes.
     *
     * @param luns of as many targets
     */
    BlockDevice open(List<BlockDevice> luns) throws BenchException, StorageException {
        if (level == null) {
            return luns.getFirst();
        }
        var members = new ArrayList<Creation.Member>();
        var candidates = new ArrayList<Candidate>();
        for (BlockDevice lun : luns) {
            members.add(new Creation.Member(lun.toString(), UUID.randomUUID(), lun));
        }
        Creation.create(new Creation.Wish(UUID.randomUUID(), "bench", System.currentTimeMillis(),
                level, consistency, CHUNK_BYTES, JOURNAL_BYTES, UUID.randomUUID(), null), members,
                false);
        luns.forEach(lun -> candidates.add(Candidate.of(lun.toString(), lun)));
        if (!(Assembly.of(candidates) instanceof Outcome.Assembled(Composition composition))) {
            throw new BenchException("a new volume does not go together");
        }
        var made = new AtomicReference<@Nullable RaidVolume>();
        VolumeMetadata metadata = VolumeMetadata.open(composition, luns, null, (slot, why) -> {
            RaidVolume volume = made.get();
            if (volume != null) {
                volume.fail(slot, why);
            }
        });
        // Zeroes are in sync: nothing is stale.
        RaidVolume volume = Raid.volume(metadata.record().shape(), metadata.raidMembers(),
                RaidOptions.of(Identity.of("iRAID", metadata.record().description().uuid()))
                        .withGuard(metadata).withKeeper(metadata).withLost(metadata.badBlocks()));
        made.set(volume);
        if (degraded) {
            volume.fail(0, new DeviceGoneException("pulled"));
        }
        return new Ticking(volume, metadata);
    }

    /** Runs the clock of the metadata. */
    private static final class Ticking extends ForwardingDevice {
        private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("bench tick").factory());

        Ticking(RaidVolume volume, VolumeMetadata metadata) {
            super(volume);
            var _ = clock.scheduleAtFixedRate(metadata::tick, TICK_MS, TICK_MS,
                    TimeUnit.MILLISECONDS);
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void close() throws StorageException {
            clock.shutdownNow();
            super.close();
        }
    }
}
