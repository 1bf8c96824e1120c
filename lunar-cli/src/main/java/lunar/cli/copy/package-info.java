/** The command that copies and compares devices. */
@NullMarked
package lunar.cli.copy;

import org.jspecify.annotations.NullMarked;
