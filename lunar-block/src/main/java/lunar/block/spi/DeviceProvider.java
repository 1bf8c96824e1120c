package lunar.block.spi;

import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.DeviceUri;
import lunar.block.StorageException;

/** Opens the devices of one or more URI schemes; found by {@link java.util.ServiceLoader}. Thread-safe. */
public interface DeviceProvider {
    /** Returns the schemes, in lower case, without the colon. */
    Set<String> schemes();

    /**
     * Opens a device. The caller closes it.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message tells the user what to write
     * @throws StorageException if the device cannot be opened
     */
    BlockDevice open(DeviceUri uri) throws StorageException;

    /**
     * Like {@link #open(DeviceUri)}, but with records of the devices that were opened before. A provider whose devices
     * have their identity elsewhere does not need them.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message tells the user what to write
     * @throws StorageException if the device cannot be opened
     */
    default BlockDevice open(DeviceUri uri, DeviceRecords records) throws StorageException {
        return open(uri);
    }

    /**
     * Checks a URI without opening the device: its parts and options, and that the files it names exist. Nothing is
     * created, locked or connected to.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message tells the user what to write
     * @throws StorageException if a file that it names cannot be used
     */
    default void check(DeviceUri uri) throws StorageException {}
}
