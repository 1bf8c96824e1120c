/** Commands that ask and change a running server through its admin API. */
@NullMarked
package lunar.cli.admin;

import org.jspecify.annotations.NullMarked;
