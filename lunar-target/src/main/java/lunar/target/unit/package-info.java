/** Describes logical units: device, profile, and where the small state is kept. */
@NullMarked
package lunar.target.unit;

import org.jspecify.annotations.NullMarked;
