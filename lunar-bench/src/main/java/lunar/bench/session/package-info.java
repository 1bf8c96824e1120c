/** Benchmarks of sessions, logins and concurrency. */
@NullMarked
package lunar.bench.session;

import org.jspecify.annotations.NullMarked;
