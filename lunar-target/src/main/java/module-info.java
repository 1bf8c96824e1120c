/** The iSCSI target: portals, sessions, task management, device servers over any block device. */
module lunar.target {
    requires transitive lunar.block;
    requires transitive lunar.iscsi;
    requires static org.jspecify;

    exports lunar.target;
    exports lunar.target.unit;

    uses lunar.iscsi.spi.TransportProvider;
}
