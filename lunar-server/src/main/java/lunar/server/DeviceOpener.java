package lunar.server;

import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.Devices;
import lunar.block.StorageException;

/**
 * Opens the block devices of a plan by their URIs. Called once per device, once per LUN for memory, and not for devices
 * already open from the previous plan, nor for URIs of other device types, which a
 * {@link lunar.scsi.target.spi.UnitProvider} opens. Must be thread-safe.
 */
@FunctionalInterface
public interface DeviceOpener {
    /** Opens every URI that {@link Devices#open(String, DeviceRecords)} opens. */
    DeviceOpener DEVICES = Devices::open;

    /**
     * Opens a device, which belongs to the server from then on. Blocks.
     *
     * @param records what the server remembers of devices
     * @throws StorageException if the device cannot be opened
     * @throws IllegalArgumentException if the URI is malformed, or of no known scheme; one line for a person
     * @throws InvalidPlanException if the URI names no device otherwise; one line for a person
     */
    BlockDevice open(String uri, DeviceRecords records)
            throws StorageException, InvalidPlanException;

    /**
     * Checks a URI without opening its device, as {@link PlanCheck#device} does.
     *
     * @throws InvalidPlanException if the URI is wrong, with one line for a person
     * @throws StorageException if a file that it names cannot be used
     */
    default void check(String uri) throws StorageException, InvalidPlanException {
        try {
            ServedSource.check(uri);
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
    }
}
