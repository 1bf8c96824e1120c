/** iSCSI as RFC 7143 has it, without sockets, clocks and threads: both ends, the simulation and iSER share it. */
module lunar.iscsi {
    requires transitive lunar.scsi;
    requires static org.jspecify;
    requires java.management;

    exports lunar.iscsi;
    exports lunar.iscsi.spi;

    uses lunar.iscsi.spi.TransportProvider;
}
