/**
 * Mode pages (SPC-5, SBC-4) and the commands that read and change them.
 *
 * <ul>
 * <li>{@link lunar.scsi.mode.ModePage}: the sealed family of pages.
 * <li>{@link lunar.scsi.mode.ModePages}: the pages of a logical unit with their current, changeable, default and saved
 * values; answers MODE SENSE and applies MODE SELECT. {@link lunar.scsi.mode.DiskModePages} has those of a disk.
 * <li>{@link lunar.scsi.mode.ModeParameters}: the data of both commands.
 * </ul>
 */
@NullMarked
package lunar.scsi.mode;

import org.jspecify.annotations.NullMarked;
