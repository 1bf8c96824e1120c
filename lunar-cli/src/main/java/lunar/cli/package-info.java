/**
 * The {@code lunar} command: one class per command, and shared infrastructure. {@link lunar.cli.Main#run} runs a
 * command line in one call, for tests and for programs that embed it.
 *
 * <p>Exit status: 0 on success, 1 if a command failed, 2 for an invalid command line. An error is one line on standard
 * error that says what to do.
 *
 * <p>Threading: a command runs on the thread that calls it.
 */
@NullMarked
package lunar.cli;

import org.jspecify.annotations.NullMarked;
