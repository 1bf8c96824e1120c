/** Client of object-based storage devices (OSD-2), over sessions of the initiator. */
module lunar.osd.client {
    requires static org.jspecify;
    requires transitive lunar.initiator;
    requires transitive lunar.osd;

    exports lunar.osd.client;
    exports lunar.osd.client.security;
}
