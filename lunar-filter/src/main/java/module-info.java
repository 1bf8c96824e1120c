/** Filters over block devices, which device URIs name before the device: {@code cache=64MiB:file:disk.img}. */
module lunar.filter {
    requires transitive lunar.block;
    requires static org.jspecify;

    exports lunar.filter;

    provides lunar.block.spi.FilterProvider with lunar.filter.StandardFilters;
}
