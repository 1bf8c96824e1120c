/**
 * SCSI commands, status, sense data and parameter data as records: bytes in, bytes out (SAM-5, SPC-5, SBC-4), for both
 * ends. This package has what all the others build on; they are grouped by concept:
 *
 * <ul>
 * <li>{@link lunar.scsi.Cdb} and {@link lunar.scsi.StandardCdb}: a command, in {@code lunar.scsi.block},
 * {@code .primary}, {@code .mode}, {@code .log}, {@code .reservation} and {@code .copy};
 * {@link lunar.scsi.command.CdbDecoder} decodes them all.
 * <li>{@link lunar.scsi.Status}, {@link lunar.scsi.Sense}: how a command ended and why. What a target refuses for
 * its bytes is an {@link lunar.scsi.IllegalRequestException}, which carries the sense data to answer.
 * <li>{@link lunar.scsi.ParameterData}: what travels besides the CDB, such as {@link lunar.scsi.vpd.StandardInquiry},
 * the family of {@link lunar.scsi.vpd.VpdPage}, {@link lunar.scsi.mode.ModeParameters}.
 * <li>{@link lunar.scsi.Lun}, {@link lunar.scsi.Bytes}: values that records are made of.
 * </ul>
 *
 * <pre>{@code
 * Cdb cdb = CdbDecoder.decode(bytes);                                           // the target
 * int written = new CapacityData16(lastLba, 512, 0, 3, true, true, 0).encode(dataIn, allocationLength);
 *
 * new ReadCapacity16(32).encode(cdbField);                               // the initiator
 * var capacity = CapacityData16.decode(dataIn);
 * }</pre>
 *
 * <p>Dependencies go one way: {@code wire} (not exported), this package, the packages of commands and data, and
 * {@code command} on top.
 *
 * <p>Threading: everything here and in the sub-packages is immutable or a static function, and may be used by any
 * thread.
 */
@NullMarked
package lunar.scsi;

import org.jspecify.annotations.NullMarked;
