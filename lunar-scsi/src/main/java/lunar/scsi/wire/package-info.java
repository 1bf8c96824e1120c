/**
 * Fields of CDBs and parameter data: numbers in SCSI byte order, ASCII text, range checks. Not exported.
 */
@NullMarked
package lunar.scsi.wire;

import org.jspecify.annotations.NullMarked;
