/**
 * A small device type other than a disk: an example of a device type that uses only the exported packages of the device
 * model.
 */
@NullMarked
package lunar.testkit.echo;

import org.jspecify.annotations.NullMarked;
