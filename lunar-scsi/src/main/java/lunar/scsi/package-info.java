/** SCSI commands, status, sense data, VPD and mode pages as records: bytes in, bytes out (SAM-5, SPC-5, SBC-4). */
@NullMarked
package lunar.scsi;

import org.jspecify.annotations.NullMarked;
