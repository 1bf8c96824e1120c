package lunar.block;

import java.util.ServiceLoader;
import java.util.TreeSet;
import lunar.block.spi.DeviceProvider;

/** Opens a device by its URI, whichever module it comes from. */
public final class Devices {
    private Devices() {}

    /**
     * Opens a device, for example {@code ram:1GiB}, {@code file:disk.img?size=1GiB} or
     * {@code iscsi://host/iqn/0}. The caller closes it.
     *
     * @throws IllegalArgumentException when the URI is wrong; the message is one line for a person
     * @throws StorageException when the device cannot be opened
     */
    public static BlockDevice open(String uri) throws StorageException {
        DeviceUri parsed = DeviceUri.parse(uri);
        var known = new TreeSet<String>();
        for (DeviceProvider provider : ServiceLoader.load(DeviceProvider.class,
                DeviceProvider.class.getClassLoader())) {
            if (provider.schemes().contains(parsed.scheme())) {
                return provider.open(parsed);
            }
            known.addAll(provider.schemes());
        }
        throw new IllegalArgumentException(
                "no device of scheme '" + parsed.scheme() + ":'; there are "
                        + String.join(":, ", known) + ":");
    }
}
