/** The one abstraction of Lunar, {@link lunar.block.BlockDevice}, with its filters and errors. */
module lunar.block {
    requires static org.jspecify;

    exports lunar.block;
    exports lunar.block.spi;

    uses lunar.block.spi.DeviceProvider;
}
