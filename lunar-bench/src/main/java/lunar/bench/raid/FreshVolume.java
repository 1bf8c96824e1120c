package lunar.bench.raid;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import lunar.bench.harness.BenchException;
import lunar.block.BlockDevice;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.Raid;
import lunar.raid.RaidOptions;
import lunar.raid.RaidVolume;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Composition;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.OpenOptions;
import lunar.raid.metadata.VolumeDevices;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.Consistency;
import org.jspecify.annotations.Nullable;

/** A newly created volume, with its metadata and their clock. Owns its members. */
record FreshVolume(RaidVolume volume, VolumeMetadata metadata, ScheduledExecutorService clock)
        implements AutoCloseable {
    private static final int TICK_MS = 1000;

    /**
     * Makes one and opens it.
     *
     * @param journalBytes length of the journal; 0 = the usual one
     * @param devices its members, which hold zeroes
     */
    static FreshVolume of(Level level, Consistency consistency, int chunkBytes, long journalBytes,
            List<BlockDevice> devices) throws BenchException, StorageException {
        var members = new ArrayList<Creation.Member>();
        for (BlockDevice device : devices) {
            members.add(new Creation.Member(device.toString(), UUID.randomUUID(), device));
        }
        Creation.create(new Creation.Wish(UUID.randomUUID(), "bench", System.currentTimeMillis(),
                level, consistency, chunkBytes, journalBytes, UUID.randomUUID(), null), members,
                false);
        List<Candidate> candidates = devices.stream()
                .map(device -> Candidate.of(device.toString(), device)).toList();
        if (!(Assembly.of(candidates) instanceof Outcome.Assembled(Composition composition))) {
            throw new BenchException("a new volume cannot be assembled");
        }
        var made = new AtomicReference<@Nullable RaidVolume>();
        VolumeMetadata metadata = VolumeMetadata.open(composition,
                new VolumeDevices(devices, List.of(), null), OpenOptions.DEFAULT, (slot, why) -> {
                    RaidVolume volume = made.get();
                    if (volume != null) {
                        volume.fail(slot, why);
                    }
                });
        // Zeroes are in sync: nothing is stale.
        RaidVolume volume = Raid.volume(metadata.record().shape(), metadata.raidMembers(),
                RaidOptions.of(Identity.of("iRAID", metadata.record().description().uuid()))
                        .withGuard(metadata).withKeeper(metadata)
                        .withBadBlocks(metadata.badBlockList()));
        made.set(volume);
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("bench tick").factory());
        var _ = clock.scheduleAtFixedRate(metadata::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
        return new FreshVolume(volume, metadata, clock);
    }

    @Override
    public void close() throws StorageException {
        clock.shutdownNow();
        volume.close();
    }
}
