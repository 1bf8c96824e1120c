/** The disk device type: a logical unit over a block device, with the commands of SBC-4. */
@NullMarked
package lunar.scsi.target.block;

import org.jspecify.annotations.NullMarked;
