/**
 * The {@code lunar} command: one class for each command, and what they share. {@link lunar.cli.Main#run} is the whole
 * of it in one call, for tests and for programs that embed it.
 *
 * <p>Exit status: 0 where all went well, 1 where a command failed, 2 where the command line could not be understood. An
 * error is one line on the error stream that says what to do.
 *
 * <p>Threading: a command runs on the thread that calls it.
 */
@NullMarked
package lunar.cli;

import org.jspecify.annotations.NullMarked;
