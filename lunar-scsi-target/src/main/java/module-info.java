/** The SCSI device model: logical units of any device type, the state that they share with nexuses, and the disk. */
module lunar.scsi.target {
    requires transitive lunar.block;
    requires transitive lunar.scsi;
    requires static org.jspecify;

    exports lunar.scsi.target;
    exports lunar.scsi.target.block;
    exports lunar.scsi.target.spi;
}
