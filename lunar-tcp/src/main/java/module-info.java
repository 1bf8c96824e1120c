/** TCP as a transport of iSCSI, plain and with TLS: selector loops over plain NIO. */
module lunar.tcp {
    requires transitive lunar.iscsi;
    requires lunar.loop;
    requires lunar.tls;
    requires static org.jspecify;

    exports lunar.tcp;

    provides lunar.iscsi.spi.TransportProvider with lunar.tcp.TcpTransportProvider,
            lunar.tcp.TlsTransportProvider;
}
