/**
 * The whole set of standard commands, and what a device server reports about those that it supports (SPC-5).
 *
 * <ul>
 * <li>{@link lunar.scsi.command.CdbDecoder}: from the bytes of a CDB to the record of the command.
 * <li>{@link lunar.scsi.command.StandardCommands}: descriptors of all these commands.
 * <li>{@link lunar.scsi.command.CommandTable}: the commands of a device server; answers REPORT SUPPORTED OPERATION
 * CODES.
 * </ul>
 *
 * <p>This package depends on those of the commands; none of them depends on it. To add a command: a record in the style
 * of {@link lunar.scsi.block.Unmap} in the package of its concept, one case in the decoder, one line in
 * {@link lunar.scsi.command.StandardCommands}.
 */
@NullMarked
package lunar.scsi.command;

import org.jspecify.annotations.NullMarked;
