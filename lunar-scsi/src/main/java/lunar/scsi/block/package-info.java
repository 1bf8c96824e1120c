/**
 * Commands of direct-access block devices and their parameter data (SBC-4).
 *
 * <ul>
 * <li>{@link lunar.scsi.block.BlockCdb} reads and writes the fields of READ and WRITE in place, without allocation: the
 * hot path of both ends.
 * <li>{@link lunar.scsi.block.ReadBlocks}, {@link lunar.scsi.block.WriteBlocks} and the other records are CDBs;
 * {@link lunar.scsi.block.CapacityData16}, {@link lunar.scsi.block.LbaStatusList},
 * {@link lunar.scsi.block.UnmapParameterList} are what travels besides them.
 * </ul>
 */
@NullMarked
package lunar.scsi.block;

import org.jspecify.annotations.NullMarked;
