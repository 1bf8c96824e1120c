/**
 * The SCSI device model (SAM-5, SPC-5): logical units of any device type and their per-nexus state. Independent of the
 * transport: commands are {@link lunar.scsi.target.ScsiTask}s, initiators are {@link lunar.scsi.target.Nexus}es.
 *
 * <p>A {@link lunar.scsi.target.UnitSpec} describes a logical unit and makes its {@link
 * lunar.scsi.target.PeripheralDevice}: the commands, vital product data and mode pages of a device type. Unit
 * attentions, reservations, asymmetric access, and the rules by which a command is refused are common to all types and
 * implemented here. {@link lunar.scsi.target.block.DiskSpec} describes disks; other modules provide other types.
 */
@NullMarked
package lunar.scsi.target;

import org.jspecify.annotations.NullMarked;
