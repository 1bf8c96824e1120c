/** How long a server takes to start, and the memory of one that is idle. */
@NullMarked
package lunar.bench.start;

import org.jspecify.annotations.NullMarked;
