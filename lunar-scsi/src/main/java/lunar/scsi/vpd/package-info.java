/**
 * Self-description of a logical unit: INQUIRY standard data and vital product data pages (SPC-5, SBC-4).
 *
 * <ul>
 * <li>{@link lunar.scsi.vpd.VpdPage}: the sealed family of pages, and their decoder.
 * <li>{@link lunar.scsi.vpd.Designator} and {@link lunar.scsi.vpd.Identifier}: names of logical units, ports and
 * devices, which copy commands use, too.
 * </ul>
 */
@NullMarked
package lunar.scsi.vpd;

import org.jspecify.annotations.NullMarked;
