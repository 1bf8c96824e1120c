/**
 * How device types other than disks become available by URIs: a module {@code provides} a
 * {@link lunar.scsi.target.spi.UnitProvider}, and servers find it.
 */
@NullMarked
package lunar.scsi.target.spi;

import org.jspecify.annotations.NullMarked;
