/** Log pages and the commands LOG SENSE and LOG SELECT (SPC-5). */
@NullMarked
package lunar.scsi.log;

import org.jspecify.annotations.NullMarked;
