/** Fields of CDBs and data: numbers in SCSI byte order, byte strings, range checks. Not exported. */
@NullMarked
package lunar.osd.field;

import org.jspecify.annotations.NullMarked;
