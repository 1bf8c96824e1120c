/** What sessions, logins and concurrency cost. */
@NullMarked
package lunar.bench.session;

import org.jspecify.annotations.NullMarked;
