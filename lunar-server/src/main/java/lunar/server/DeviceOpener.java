package lunar.server;

import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.Devices;
import lunar.block.StorageException;

/** Opens the devices that a plan names by their URIs. For any thread. */
@FunctionalInterface
public interface DeviceOpener {
    /** Opens every URI that {@link Devices#open(String, DeviceRecords)} opens. */
    DeviceOpener DEVICES = Devices::open;

    /**
     * Opens a device, which belongs to the server from then on. Blocks.
     *
     * @param records what the server remembers of devices
     * @throws StorageException if the device cannot be opened
     * @throws InvalidPlanException if the URI names no device; one line for a person
     */
    BlockDevice open(String uri, DeviceRecords records)
            throws StorageException, InvalidPlanException;
}
