/** Benches of hot code by itself, run by JMH. */
@NullMarked
package lunar.bench.micro;

import org.jspecify.annotations.NullMarked;
