/**
 * What the admin API reports, as trees of maps, lists, strings, numbers and booleans for JSON. The trees keep the order
 * of their keys. {@link lunar.admin.report.Administered} is the server that is reported on.
 */
@NullMarked
package lunar.admin.report;

import org.jspecify.annotations.NullMarked;
