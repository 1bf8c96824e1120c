/** The {@code lunar bench} command, which measures devices. */
@NullMarked
package lunar.cli.bench;

import org.jspecify.annotations.NullMarked;
