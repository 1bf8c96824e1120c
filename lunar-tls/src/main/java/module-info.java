/** Certificates and keys in PEM files, from which both iSCSI over TLS and the admin API create their TLS contexts. */
module lunar.tls {
    requires static org.jspecify;

    exports lunar.tls;
}
