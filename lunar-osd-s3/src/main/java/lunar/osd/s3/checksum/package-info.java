/** Checksums and digests of data that pass through; each object is for one thread. */
@NullMarked
package lunar.osd.s3.checksum;

import org.jspecify.annotations.NullMarked;
