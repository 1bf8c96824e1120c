/** The iSCSI target: portals, sessions and task management for the logical units of lunar.scsi.target. */
module lunar.target {
    requires transitive lunar.block;
    requires transitive lunar.scsi.target;
    requires transitive lunar.iscsi;
    requires jdk.jfr; // events of commands, for recordings that want them
    requires static org.jspecify;

    exports lunar.target;
    exports lunar.target.status;

    uses lunar.iscsi.spi.TransportProvider;
}
