package lunar.block.spi;

import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.DeviceRecords;
import lunar.block.StorageException;

/**
 * Provides the filters of one or more names, which stand before a device URI as {@code name:} or
 * {@code name=settings:}; found by {@link java.util.ServiceLoader}.
 */
public interface FilterProvider {
    /** A filter with its settings, which can be put over a device. */
    @FunctionalInterface
    interface Filter {
        /**
         * Puts the filter over a device. Closing it closes the device.
         *
         * @param records of the devices that were opened before
         * @throws StorageException when the device does not suit; the caller closes it then
         */
        BlockDevice over(BlockDevice below, DeviceRecords records) throws StorageException;
    }

    /** The names of the filters that this provider has, in lower case. */
    Set<String> names();

    /**
     * Reads the settings of a filter.
     *
     * @param settings what stands between the equals sign and the colon; empty without an equals sign
     * @throws IllegalArgumentException when they are wrong; the message tells a person what to write
     */
    Filter parse(String name, String settings);
}
