/** Ways from the disk to the wire inside a target: the analysis of iSCSI target software. */
@NullMarked
package lunar.bench.paths;

import org.jspecify.annotations.NullMarked;
