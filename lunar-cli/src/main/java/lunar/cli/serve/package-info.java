/** Commands that serve and discover targets. */
@NullMarked
package lunar.cli.serve;

import org.jspecify.annotations.NullMarked;
