/** Load generators: initiators in processes of their own, Lunar's and others. */
@NullMarked
package lunar.bench.load;

import org.jspecify.annotations.NullMarked;
