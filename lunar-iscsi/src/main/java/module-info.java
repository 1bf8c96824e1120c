/** The iSCSI protocol (RFC 7143) without sockets, clocks and threads, shared by both ends, the simulation and iSER. */
module lunar.iscsi {
    requires transitive lunar.scsi;
    requires static org.jspecify;
    requires java.management;

    exports lunar.iscsi;
    exports lunar.iscsi.framing;
    exports lunar.iscsi.login;
    exports lunar.iscsi.pdu;
    exports lunar.iscsi.session;
    exports lunar.iscsi.spi;
    exports lunar.iscsi.text;
    exports lunar.iscsi.transfer;

    uses lunar.iscsi.spi.TransportProvider;
}
