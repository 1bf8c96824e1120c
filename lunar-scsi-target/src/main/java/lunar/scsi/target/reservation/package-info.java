/**
 * Reservations of a logical unit (SPC-5 section 5.13): their state, the rules as pure functions, the form on disk, and
 * the commands.
 */
@NullMarked
package lunar.scsi.target.reservation;

import org.jspecify.annotations.NullMarked;
