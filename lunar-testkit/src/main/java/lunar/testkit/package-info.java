/** Contract tests for implementations of an interface, seeded generators, scripted peers. */
@NullMarked
package lunar.testkit;

import org.jspecify.annotations.NullMarked;
