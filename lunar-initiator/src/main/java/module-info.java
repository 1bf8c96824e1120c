/** iSCSI initiator: a LUN of a target as a {@link lunar.block.BlockDevice}. */
module lunar.initiator {
    requires transitive lunar.block;
    requires transitive lunar.iscsi;
    requires transitive lunar.scsi;
    requires static org.jspecify;

    exports lunar.initiator;
    exports lunar.initiator.multipath;
    exports lunar.initiator.scsi;

    uses lunar.iscsi.spi.TransportProvider;

    provides lunar.block.spi.DeviceProvider with lunar.initiator.multipath.LunProvider;
}
