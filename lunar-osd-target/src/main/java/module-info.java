/** Object-based storage devices (OSD-2, OSD-1) as a device type of the SCSI device model. */
module lunar.osd.target {
    requires static org.jspecify;
    requires transitive lunar.osd.store;
    requires transitive lunar.scsi.target;

    exports lunar.osd.target;

    provides lunar.scsi.target.spi.UnitProvider with lunar.osd.target.OsdProvider;
}
