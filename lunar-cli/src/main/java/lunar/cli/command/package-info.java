/** What commands share: the console, errors and their one line, options, progress. */
@NullMarked
package lunar.cli.command;

import org.jspecify.annotations.NullMarked;
