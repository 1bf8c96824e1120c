/** The command that measures a device. */
@NullMarked
package lunar.cli.bench;

import org.jspecify.annotations.NullMarked;
