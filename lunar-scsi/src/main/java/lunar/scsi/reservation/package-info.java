/**
 * Persistent reservations (SPC-5), RESERVE and RELEASE of SPC-2: commands and their parameter data. What a reservation
 * allows is decided by the device model, not here.
 */
@NullMarked
package lunar.scsi.reservation;

import org.jspecify.annotations.NullMarked;
