package lunar.block.spi;

import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.StorageException;

/**
 * Provides filters, which precede a device URI as {@code name:} or {@code name=settings:}; found by
 * {@link java.util.ServiceLoader}. Thread-safe.
 */
public interface FilterProvider {
    /** Puts a filter with its settings over a device. */
    @FunctionalInterface
    interface Filter {
        /**
         * Puts the filter over a device, which it owns.
         *
         * @param records records of the devices that were opened before
         * @throws StorageException if the filter cannot work on the device; the caller closes the device then
         */
        BlockDevice over(BlockDevice below, DeviceRecords records) throws StorageException;

        /**
         * Checks what the settings name, such as a key file, without a device.
         *
         * @throws StorageException if the filter cannot work with it
         */
        default void check() throws StorageException {}
    }

    /** Returns the names of the filters, in lower case. */
    Set<String> names();

    /**
     * Parses the settings of a filter.
     *
     * @param settings the text between the equals sign and the colon; empty without an equals sign
     * @throws IllegalArgumentException if they are wrong; the message tells the user what to write
     */
    Filter parse(String name, String settings);
}
