package lunar.block;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.block.spi.FilterProvider;

/**
 * The first of the filters in front of a device URI, such as {@code verify:delay=5ms+1ms:ram:1GiB}. A prefix is a
 * filter if a {@link FilterProvider} has a filter of this name.
 */
final class FilterUri {
    private static final Pattern FORM = Pattern.compile("([a-z0-9-]+)(?:=([^:]*))?:(.*)");

    /** Providers by the names of their filters, loaded once because every URI is looked up here. */
    private static final class Providers {
        private static final Map<String, FilterProvider> BY_NAME = load();

        private static Map<String, FilterProvider> load() {
            var byName = new HashMap<String, FilterProvider>();
            for (FilterProvider provider : ServiceLoader.load(FilterProvider.class,
                    FilterProvider.class.getClassLoader())) {
                provider.names().forEach(name -> byName.putIfAbsent(name, provider));
            }
            return Map.copyOf(byName);
        }
    }

    private final FilterProvider.Filter filter;
    private final String below;

    private FilterUri(FilterProvider.Filter filter, String below) {
        this.filter = filter;
        this.below = below;
    }

    /**
     * Parses the first filter; empty if the URI begins with none.
     *
     * @throws IllegalArgumentException if its settings are wrong; the message is one line for the user
     */
    static Optional<FilterUri> parse(String uri) {
        Matcher matcher = FORM.matcher(uri);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String name = matcher.group(1);
        FilterProvider provider = Providers.BY_NAME.get(name);
        if (provider == null) {
            return Optional.empty();
        }
        String settings = matcher.group(2) == null ? "" : matcher.group(2);
        return Optional.of(new FilterUri(provider.parse(name, settings), matcher.group(3)));
    }

    /** Whether a module that is present has a filter of this name. */
    static boolean isProvided(String name) {
        return Providers.BY_NAME.containsKey(name);
    }

    /** Returns the URI below all filters, whether their settings are right or not. */
    static String below(String uri) {
        Matcher matcher = FORM.matcher(uri);
        return matcher.matches() && isProvided(matcher.group(1))
                ? below(matcher.group(3))
                : uri;
    }

    /** Checks what the filter's settings name. */
    void check() throws StorageException {
        filter.check();
    }

    /** Returns the URI below this filter. */
    String below() { return below; }

    /** Opens the device below and puts the filter over it. */
    BlockDevice open(DeviceRecords records) throws StorageException {
        BlockDevice device = Devices.open(below, records);
        try {
            return filter.over(device, records);
        } catch (StorageException e) {
            device.close();
            throw e;
        }
    }
}
