/** Backing stores: memory, file, disk. */
module lunar.store {
    requires transitive lunar.block;
    requires static org.jspecify;
    requires jdk.unsupported; // the open option for direct I/O

    exports lunar.store;

    provides lunar.block.spi.DeviceProvider with lunar.store.StoreProvider;
}
