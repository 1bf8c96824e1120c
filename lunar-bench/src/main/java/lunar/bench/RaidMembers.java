package lunar.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.Raid;
import lunar.raid.RaidOptions;
import lunar.raid.RaidVolume;
import lunar.raid.WalkOptions;
import lunar.raid.layout.Level;
import lunar.raid.meta.Assembly;
import lunar.raid.meta.Candidate;
import lunar.raid.meta.Consistency;
import lunar.raid.meta.Creation;
import lunar.raid.meta.VolumeMetadata;
import org.jspecify.annotations.Nullable;

/** A RAID 5 over members in memory, with its metadata and their clock. */
record RaidMembers(RaidVolume volume, VolumeMetadata metadata, ScheduledExecutorService clock)
        implements AutoCloseable {
    static final int COUNT = 4;
    private static final int LOST_SLOT = 2;
    private static final int TICK_MS = 1000;

    static RaidMembers open(Consistency consistency, int memberMib)
            throws BenchException, IOException {
        var devices = new ArrayList<BlockDevice>();
        var members = new ArrayList<Creation.Member>();
        for (int slot = 0; slot < COUNT; slot++) {
            devices.add(Devices.open("ram:" + memberMib + "MiB"));
            members.add(new Creation.Member("member " + slot, UUID.randomUUID(),
                    devices.get(slot)));
        }
        Creation.create(new Creation.Wish(UUID.randomUUID(), "bench", System.currentTimeMillis(),
                Level.RAID5, consistency, RaidSubject.CHUNK_BYTES, 0, UUID.randomUUID(), null),
                members, false);
        return open(devices);
    }

    private static RaidMembers open(List<BlockDevice> devices)
            throws BenchException, StorageException {
        List<Candidate> candidates = devices.stream()
                .map(device -> Candidate.of(device.toString(), device)).toList();
        if (!(Assembly.of(candidates) instanceof Assembly.Outcome.Assembled(var composition))) {
            throw new BenchException("a new volume does not go together");
        }
        var made = new AtomicReference<@Nullable RaidVolume>();
        VolumeMetadata metadata = VolumeMetadata.open(composition, devices, null, (slot, why) -> {
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
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("bench tick").factory());
        var _ = clock.scheduleAtFixedRate(metadata::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
        return new RaidMembers(volume, metadata, clock);
    }

    /** One member fails. */
    void lose() {
        volume.fail(LOST_SLOT, new DeviceGoneException("lost for the bench"));
    }

    /** Another device takes its place. */
    void replace(BlockDevice spare, WalkOptions how) {
        try {
            metadata.admit(LOST_SLOT, spare, UUID.randomUUID(), true);
        } catch (StorageException e) {
            throw new IllegalStateException("members in memory do not fail", e);
        }
        volume.replace(LOST_SLOT, spare, metadata.dataOffset(), how);
    }

    /** Bytes of data that each has. */
    long memberBytes() {
        return volume.shape().memberBlocks().getFirst() * volume.blockSize();
    }

    @Override
    public void close() throws StorageException {
        clock.shutdownNow();
        volume.close();
    }
}
