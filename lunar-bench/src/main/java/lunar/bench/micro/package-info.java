/** Microbenchmarks of hot code, run by JMH. */
@NullMarked
package lunar.bench.micro;

import org.jspecify.annotations.NullMarked;
