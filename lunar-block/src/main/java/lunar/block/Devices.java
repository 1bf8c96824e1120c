package lunar.block;

import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import lunar.block.spi.DeviceProvider;

/** Opens devices by their URIs, by means of the {@link DeviceProvider}s of all modules that are present. */
public final class Devices {
    private static final Pattern LOCK = Pattern.compile("[?&]lock=");

    private Devices() {}

    /** Returns the URI below the filters of a URI: {@code ram:1GiB} of {@code verify:delay=5ms:ram:1GiB}. */
    public static String withoutFilters(String uri) {
        return FilterUri.below(uri);
    }

    /**
     * Opens a device, for example {@code ram:1GiB}, {@code file:disk.img?size=1GiB} or
     * {@code iscsi://host/iqn/0}. Filters may precede it, each with a colon: {@code delay=5ms+1ms:},
     * {@code throttle=100MiB,500iops:}, {@code fault=0.01,kind=torn,op=write,lba=0-99,seed=1:},
     * {@code cache=64MiB,policy=lru,read-ahead=1MiB:}, {@code schedule=elevator,depth=4,merge=128KiB:},
     * {@code encrypt=disk.key:}, {@code verify:}, {@code trace:}, {@code volatile:}. The
     * caller closes it.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message is one line for the user
     * @throws StorageException if the device cannot be opened
     */
    public static BlockDevice open(String uri) throws StorageException {
        return open(uri, DeviceRecords.NONE);
    }

    /**
     * Like {@link #open(String)}, but with records of the devices that were opened before.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message is one line for the user
     * @throws StorageException if the device cannot be opened
     */
    public static BlockDevice open(String uri, DeviceRecords records) throws StorageException {
        Optional<FilterUri> filter = FilterUri.parse(uri);
        if (filter.isPresent()) {
            return filter.get().open(records);
        }
        DeviceUri parsed = DeviceUri.parse(uri);
        return provider(parsed).open(parsed, records);
    }

    /**
     * Checks a URI, with its filters, without opening the device: that its parts and options can be understood, and
     * that the files it names exist. Nothing is created, locked or connected to; opening the device may still fail.
     *
     * @throws IllegalArgumentException if the URI is wrong; the message is one line for the user
     * @throws StorageException if a file that it names cannot be used
     */
    public static void check(String uri) throws StorageException {
        String below = checkFilters(uri);
        DeviceUri parsed = DeviceUri.parse(below);
        provider(parsed).check(parsed);
    }

    /**
     * Checks the filters of a URI, and returns the URI below them.
     *
     * @throws IllegalArgumentException if a filter's settings are wrong; the message is one line for the user
     * @throws StorageException if a file that a filter names cannot be used
     */
    public static String checkFilters(String uri) throws StorageException {
        String below = uri;
        for (Optional<FilterUri> filter = FilterUri.parse(below); filter
                .isPresent(); filter = FilterUri.parse(below)) {
            filter.get().check();
            below = filter.get().below();
        }
        return below;
    }

    /**
     * Requires that a URI opens its device with a lock, as everything that serves or writes it must.
     *
     * @throws IllegalArgumentException if it has the option {@code lock}; the message is one line for the user
     */
    public static void requireLock(String uri) {
        if (LOCK.matcher(uri).find()) {
            throw new IllegalArgumentException(DeviceUri.withoutSecret(uri) + " cannot be used"
                    + " without its lock: lock=no is for a look at a disk that is in use; remove"
                    + " it");
        }
    }

    private static DeviceProvider provider(DeviceUri uri) {
        var known = new TreeSet<String>();
        for (DeviceProvider provider : ServiceLoader.load(DeviceProvider.class,
                DeviceProvider.class.getClassLoader())) {
            if (provider.schemes().contains(uri.scheme())) {
                return provider;
            }
            known.addAll(provider.schemes());
        }
        throw new IllegalArgumentException(unknown(uri.scheme(), known));
    }

    /** A prefix that looks like a filter, but that no provider has, was parsed as the scheme of a device. */
    private static String unknown(String scheme, Set<String> known) {
        String filter = scheme.replaceFirst("=.*", "");
        if (!FilterUri.isProvided(filter)) {
            Optional<String> advice = ProvidingModules.adviceForFilter(filter);
            if (advice.isPresent()) {
                return "no filter '" + filter + ":': " + advice.get();
            }
        }
        String there = known.isEmpty() ? "none at all" : String.join(":, ", known) + ":";
        return "no device of scheme '" + scheme + ":'" + ProvidingModules.adviceForDevice(scheme)
                .map(advice -> ": " + advice).orElse("; there are " + there);
    }
}
