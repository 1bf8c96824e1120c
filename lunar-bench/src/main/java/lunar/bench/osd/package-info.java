/**
 * Benchmarks of object-based storage: {@link lunar.bench.osd.OsdBench} repeats Table 1 and Figures 3 to 6 of the paper
 * on an iSER target for object-based storage.
 */
@NullMarked
package lunar.bench.osd;

import org.jspecify.annotations.NullMarked;
