/** Block devices ({@link lunar.block.BlockDevice}), their errors, their URIs, and NIO channels over them. */
module lunar.block {
    requires static org.jspecify;

    exports lunar.block;
    exports lunar.block.channel;
    exports lunar.block.spi;

    uses lunar.block.spi.DeviceProvider;
    uses lunar.block.spi.FilterProvider;
}
