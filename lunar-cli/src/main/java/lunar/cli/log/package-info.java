/** The log of the command: its form and level, journald's priorities, and limits of floods. */
@NullMarked
package lunar.cli.log;

import org.jspecify.annotations.NullMarked;
