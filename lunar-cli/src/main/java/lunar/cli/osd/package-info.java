/** {@code lunar osd}: objects of object-based storage devices. */
@NullMarked
package lunar.cli.osd;

import org.jspecify.annotations.NullMarked;
