/**
 * Primary commands that any device type may have (SPC-5) and their parameter data: TEST UNIT READY, REQUEST SENSE,
 * REPORT LUNS, target port groups, identifying information, timestamp, buffers, diagnostics. INQUIRY is in
 * {@code lunar.scsi.vpd}; commands about commands are in {@code lunar.scsi.command}.
 */
@NullMarked
package lunar.scsi.primary;

import org.jspecify.annotations.NullMarked;
