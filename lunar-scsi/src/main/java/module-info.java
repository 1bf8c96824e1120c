/** SCSI as bytes and values: commands, status, sense, VPD and mode pages; no I/O. */
module lunar.scsi {
    requires static org.jspecify;

    exports lunar.scsi;
    exports lunar.scsi.block;
    exports lunar.scsi.command;
    exports lunar.scsi.copy;
    exports lunar.scsi.log;
    exports lunar.scsi.mode;
    exports lunar.scsi.primary;
    exports lunar.scsi.reservation;
    exports lunar.scsi.vpd;
    exports lunar.scsi.wire;
}
