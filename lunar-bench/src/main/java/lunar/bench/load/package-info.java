/** Load generators: initiators in separate processes, Lunar's and others. */
@NullMarked
package lunar.bench.load;

import org.jspecify.annotations.NullMarked;
