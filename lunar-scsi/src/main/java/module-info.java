/** SCSI as bytes and values: commands, status, sense, VPD and mode pages; no I/O. */
module lunar.scsi {
    requires static org.jspecify;

    exports lunar.scsi;
}
