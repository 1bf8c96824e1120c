/** How exactly limits on LUNs and initiators hold, and what they cost others. */
@NullMarked
package lunar.bench.limits;

import org.jspecify.annotations.NullMarked;
