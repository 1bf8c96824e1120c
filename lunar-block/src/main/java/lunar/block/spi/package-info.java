/** Interfaces that a module implements to give Lunar other kinds of devices and filters in device URIs. */
@NullMarked
package lunar.block.spi;

import org.jspecify.annotations.NullMarked;
