/** The store in memory. Not exported. */
@NullMarked
package lunar.osd.store.memory;

import org.jspecify.annotations.NullMarked;
