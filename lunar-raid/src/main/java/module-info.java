/** iRAID: a volume over several block devices that survives the loss of some of them. */
module lunar.raid {
    requires transitive lunar.block;
    requires static org.jspecify;

    exports lunar.raid;
    exports lunar.raid.layout;
    exports lunar.raid.metadata;
    exports lunar.raid.metadata.record;
    exports lunar.raid.service;

    uses lunar.raid.service.VolumeHost;

    provides lunar.block.spi.DeviceProvider with lunar.raid.service.RaidProvider;
}
