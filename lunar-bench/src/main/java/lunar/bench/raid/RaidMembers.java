package lunar.bench.raid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.UUID;
import lunar.bench.harness.BenchException;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.raid.RaidVolume;
import lunar.raid.ScanOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.record.Consistency;

/** A RAID 5 over members in memory. */
record RaidMembers(FreshVolume fresh) implements AutoCloseable {
    static final int COUNT = 4;
    private static final int LOST_SLOT = 2;

    static RaidMembers open(Consistency consistency, int memberMib)
            throws BenchException, IOException {
        var devices = new ArrayList<BlockDevice>();
        for (int slot = 0; slot < COUNT; slot++) {
            devices.add(Devices.open("ram:" + memberMib + "MiB"));
        }
        return new RaidMembers(FreshVolume.of(Level.RAID5, consistency, RaidSubject.CHUNK_BYTES, 0,
                devices));
    }

    RaidVolume volume() { return fresh.volume(); }

    /** Fails one member. */
    void lose() {
        volume().fail(LOST_SLOT, new DeviceGoneException("lost for the bench"));
    }

    /** Another device takes its place. */
    void replace(BlockDevice spare, ScanOptions how) {
        try {
            fresh.metadata().admit(LOST_SLOT, spare, UUID.randomUUID(), true);
        } catch (StorageException e) {
            throw new IllegalStateException("members in memory do not fail", e);
        }
        volume().replace(LOST_SLOT, spare, fresh.metadata().dataOffset(), how);
    }

    /** Bytes of data that each has. */
    long memberBytes() {
        return volume().shape().memberBlocks().getFirst() * volume().blockSize();
    }

    @Override
    public void close() throws StorageException { fresh.close(); }
}
