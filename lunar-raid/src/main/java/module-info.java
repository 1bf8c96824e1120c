/** iRAID: a volume over several block devices that survives the loss of some of them. */
module lunar.raid {
    requires transitive lunar.block;
    requires static org.jspecify;

    exports lunar.raid;
    exports lunar.raid.layout;
    exports lunar.raid.meta;
    exports lunar.raid.run;

    uses lunar.raid.run.VolumeHost;

    provides lunar.block.spi.DeviceProvider with lunar.raid.run.RaidProvider;
}
