/** Benchmarks of volumes: the experiment of the iRAID paper, and the cost of a volume without a network. */
@NullMarked
package lunar.bench.raid;

import org.jspecify.annotations.NullMarked;
