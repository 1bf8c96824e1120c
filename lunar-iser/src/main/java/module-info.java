/** iSER (RFC 7145): the iSCSI transport that moves the data of commands by RDMA. */
module lunar.iser {
    requires transitive lunar.iscsi;
    requires lunar.loop;
    requires lunar.rdma;
    requires static org.jspecify;

    exports lunar.iser;

    provides lunar.iscsi.spi.TransportProvider with lunar.iser.IserTransportProvider;
}
