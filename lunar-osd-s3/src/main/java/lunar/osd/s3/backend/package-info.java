/** Access to the objects of a device, as far as the S3 protocol needs it. */
@NullMarked
package lunar.osd.s3.backend;

import org.jspecify.annotations.NullMarked;
