/** Figures 3 and 4 of the jSCSI 2.0 paper. */
@NullMarked
package lunar.bench.figures;

import org.jspecify.annotations.NullMarked;
