/**
 * The commands of an object-based storage device. {@link lunar.osd.target.command.OsdCommands} registers them; a {@link
 * lunar.osd.target.command.CommandRunner} takes the memory of a command and runs it on one of the {@link
 * lunar.osd.target.command.CommandThreads} as a {@link lunar.osd.target.command.CommandRun}, which does what all
 * commands have in common: data-out is checked, then the function of the command, attributes to set and attributes to
 * get follow. The other classes have the functions.
 * Not exported.
 */
@NullMarked
package lunar.osd.target.command;

import org.jspecify.annotations.NullMarked;
