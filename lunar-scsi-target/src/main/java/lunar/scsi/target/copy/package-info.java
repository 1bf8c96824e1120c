/** Third-party copies between disks: EXTENDED COPY, ROD tokens, and their abort (SPC-5 section 5.18). */
@NullMarked
package lunar.scsi.target.copy;

import org.jspecify.annotations.NullMarked;
