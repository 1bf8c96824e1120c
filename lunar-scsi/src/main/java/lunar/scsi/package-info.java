/**
 * SCSI commands, status, sense data, VPD and mode pages as records: bytes in, bytes out (SAM-5, SPC-5, SBC-4), for
 * both ends.
 *
 * <ul>
 * <li>{@link lunar.scsi.Cdb}: the sealed family of commands. {@link lunar.scsi.BlockCdb} reads READ and WRITE in
 * place without allocation.
 * <li>{@link lunar.scsi.Status}, {@link lunar.scsi.Sense}: how a command ended and why. What a target refuses for
 * its bytes is an {@link lunar.scsi.IllegalRequestException}, which carries the sense data to answer.
 * <li>{@link lunar.scsi.ParameterData}: what travels besides the CDB, such as {@link lunar.scsi.StandardInquiry},
 * the family of {@link lunar.scsi.VpdPage}, {@link lunar.scsi.ModeParameters}.
 * <li>{@link lunar.scsi.ModePages} and {@link lunar.scsi.CommandTable}: what a logical unit has, and the answers
 * that follow from it.
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
 * <p>To add a command: a record in the style of {@link lunar.scsi.Unmap}, one word in the seal of
 * {@link lunar.scsi.Cdb}, one case in its decoder, one line in {@link lunar.scsi.StandardCommands}.
 *
 * <p>Threading: everything here is immutable or a static function, and may be used by any thread.
 */
@NullMarked
package lunar.scsi;

import org.jspecify.annotations.NullMarked;
