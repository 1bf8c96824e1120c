/**
 * A small device type that is no disk: it shows that a device type needs nothing but the exported packages of the
 * device model, and how one is made.
 */
@NullMarked
package lunar.testkit.echo;

import org.jspecify.annotations.NullMarked;
