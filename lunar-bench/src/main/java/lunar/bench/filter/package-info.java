/** What filters cost, and when they pay. */
@NullMarked
package lunar.bench.filter;

import org.jspecify.annotations.NullMarked;
