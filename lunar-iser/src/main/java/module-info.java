/** iSER (RFC 7145) as a transport of iSCSI: RDMA moves the data of commands. */
module lunar.iser {
    requires transitive lunar.iscsi;
    requires lunar.loop;
    requires lunar.rdma;
    requires static org.jspecify;

    exports lunar.iser;

    provides lunar.iscsi.spi.TransportProvider with lunar.iser.IserTransportProvider;
}
