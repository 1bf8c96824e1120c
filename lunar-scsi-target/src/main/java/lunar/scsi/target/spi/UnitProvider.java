package lunar.scsi.target.spi;

import java.util.Set;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.StorageException;

/**
 * Opens what logical units of a device type serve, by the URIs of one or more schemes; found by
 * {@link java.util.ServiceLoader}. Disks have none: their block devices have {@link lunar.block.spi.DeviceProvider}s.
 * Thread-safe.
 */
public interface UnitProvider {
    /** Returns the schemes, in lower case, without the colon; none that a block device has. */
    Set<String> schemes();

    /**
     * Opens what a unit serves. The caller closes it.
     *
     * @param records what the caller remembers of units that were opened before
     * @throws IllegalArgumentException if the URI is wrong; the message tells the user what to write
     * @throws StorageException if it cannot be opened
     */
    UnitSource open(DeviceUri uri, DeviceRecords records) throws StorageException;
}
