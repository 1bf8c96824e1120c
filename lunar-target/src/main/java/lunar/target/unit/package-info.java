/** What a logical unit is made of: device, profile, and where its small state is kept. */
@NullMarked
package lunar.target.unit;

import org.jspecify.annotations.NullMarked;
