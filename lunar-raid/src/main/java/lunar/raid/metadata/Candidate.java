package lunar.raid.metadata;

import lunar.block.BlockDevice;
import lunar.raid.FailurePolicy;
import lunar.raid.metadata.page.RetryingDevice;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.superblock.SuperblockStore;

/**
 * A device that may belong to a volume.
 *
 * @param uri the device for the operator
 * @param sizeBytes its size, 0 where that is not known
 * @param blockSize bytes of its blocks, 0 where that is not known
 * @param reading what is where the superblock would be
 */
public record Candidate(String uri, long sizeBytes, int blockSize, SuperblockReading reading) {
    /** Examines a device. Blocks. */
    public static Candidate of(String uri, BlockDevice device) {
        var patient = new RetryingDevice(device, FailurePolicy.DEFAULT.retries());
        return new Candidate(uri, device.sizeBytes(), device.blockSize(),
                new SuperblockStore(patient).read());
    }

    /** A device that could not be opened. */
    public static Candidate unreachable(String uri, String why) {
        return new Candidate(uri, 0, 0, new SuperblockReading.Unreadable(why));
    }
}
