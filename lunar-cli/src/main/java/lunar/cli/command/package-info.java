/** Infrastructure of all commands: console, one-line errors, options, progress. */
@NullMarked
package lunar.cli.command;

import org.jspecify.annotations.NullMarked;
