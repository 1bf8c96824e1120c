/** The one abstraction of Lunar, {@link lunar.block.BlockDevice}, its errors, and the URIs that open it. */
module lunar.block {
    requires static org.jspecify;

    exports lunar.block;
    exports lunar.block.channel;
    exports lunar.block.spi;

    uses lunar.block.spi.DeviceProvider;
    uses lunar.block.spi.FilterProvider;
}
