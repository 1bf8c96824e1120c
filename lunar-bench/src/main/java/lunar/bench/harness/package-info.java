/** Infrastructure of all benchmarks: arguments, processes, processor time, latencies, estimates, tables and charts. */
@NullMarked
package lunar.bench.harness;

import org.jspecify.annotations.NullMarked;
