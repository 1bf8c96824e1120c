/** Benchmarks of Lucene on a LUN. */
@NullMarked
package lunar.bench.lucene;

import org.jspecify.annotations.NullMarked;
