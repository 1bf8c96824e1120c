package lunar.scsi.target.spi;

import java.util.Set;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.StorageException;

/**
 * Opens the storage of logical units of a device type by URIs of one or more schemes; found by
 * {@link java.util.ServiceLoader}. Disks have none: their block devices have {@link lunar.block.spi.DeviceProvider}s.
 * Thread-safe.
 */
public interface UnitProvider {
    /** Returns the schemes, in lower case, without the colon; none that a block device has. */
    Set<String> schemes();

    /**
     * Opens the storage of a unit. The caller closes it.
     *
     * @param records the caller's records of units that were opened before
     * @throws IllegalArgumentException if the URI is wrong; the message tells the user what to write
     * @throws StorageException if it cannot be opened
     */
    UnitSource open(DeviceUri uri, DeviceRecords records) throws StorageException;

    /**
     * Checks a URI without opening the storage: its parts and options, and that the files it names exist. Nothing is
     * created or locked.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message tells the user what to write
     * @throws StorageException if a file that it names cannot be used
     */
    default void check(DeviceUri uri) throws StorageException {}
}
