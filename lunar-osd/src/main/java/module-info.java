/** Object-based storage devices (OSD-2, and OSD-1 as far as its initiators need it): the data formats; no I/O. */
module lunar.osd {
    requires static org.jspecify;
    requires transitive lunar.scsi;

    exports lunar.osd.security;
    exports lunar.osd.wire;
    exports lunar.osd.wire.attribute;
    exports lunar.osd.wire.command;
    exports lunar.osd.wire.data;
    exports lunar.osd.wire.page;
    exports lunar.osd.wire.security;
    exports lunar.osd.wire.sense;
}
