/** Benchmarks of I/O paths inside a target: the analysis of iSCSI target software. */
@NullMarked
package lunar.bench.paths;

import org.jspecify.annotations.NullMarked;
