/** Benchmarks of the cost and benefit of filters. */
@NullMarked
package lunar.bench.filter;

import org.jspecify.annotations.NullMarked;
