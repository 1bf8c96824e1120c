/** The interface that a module implements to give Lunar another kind of device URI. */
@NullMarked
package lunar.block.spi;

import org.jspecify.annotations.NullMarked;
