/** The {@code lunar copy} command, which copies and compares devices. */
@NullMarked
package lunar.cli.copy;

import org.jspecify.annotations.NullMarked;
