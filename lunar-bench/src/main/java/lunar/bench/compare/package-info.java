/** Comparisons of builds and servers in one interleaved run. */
@NullMarked
package lunar.bench.compare;

import org.jspecify.annotations.NullMarked;
