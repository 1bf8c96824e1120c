/** An embeddable iSCSI server, configured by a plan of targets and devices that can be changed at run time. */
module lunar.server {
    requires transitive lunar.block;
    requires transitive lunar.iscsi;
    requires transitive lunar.isns;
    requires transitive lunar.target;
    requires static org.jspecify;

    exports lunar.server;

    uses lunar.scsi.target.spi.UnitProvider;
}
