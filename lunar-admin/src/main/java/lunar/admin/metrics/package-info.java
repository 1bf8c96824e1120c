/**
 * The metrics of a server in the forms of Prometheus and OpenMetrics: {@link lunar.admin.metrics.Metrics} takes
 * snapshots when it is asked, from counters that exist anyway. Not exported.
 */
@NullMarked
package lunar.admin.metrics;

import org.jspecify.annotations.NullMarked;
