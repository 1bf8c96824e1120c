/** The {@code lunar raid} commands: creating, assembling, watching and changing volumes. */
@NullMarked
package lunar.cli.raid;

import org.jspecify.annotations.NullMarked;
