/** Builds and servers side by side, in one interleaved run. */
@NullMarked
package lunar.bench.compare;

import org.jspecify.annotations.NullMarked;
