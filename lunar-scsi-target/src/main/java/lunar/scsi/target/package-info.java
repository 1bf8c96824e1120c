/**
 * The SCSI device model (SAM-5, SPC-5): logical units of any device type and what they keep for the nexuses that use
 * them. It knows no transport: commands come as {@link lunar.scsi.target.ScsiTask}s, initiators as
 * {@link lunar.scsi.target.Nexus}es.
 *
 * <p>A {@link lunar.scsi.target.UnitSpec} describes a logical unit and makes its
 * {@link lunar.scsi.target.PeripheralDevice}: the commands, vital product data and mode pages of a device type. Unit
 * attentions, reservations, asymmetric access, and the rules by which a command is refused are the same for all types
 * and live here. {@link lunar.scsi.target.block.DiskSpec} is the disk; other types come from other modules.
 */
@NullMarked
package lunar.scsi.target;

import org.jspecify.annotations.NullMarked;
