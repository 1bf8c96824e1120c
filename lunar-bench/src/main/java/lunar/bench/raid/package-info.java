/** Volumes: the experiment of the iRAID paper, and what a volume costs by itself. */
@NullMarked
package lunar.bench.raid;

import org.jspecify.annotations.NullMarked;
