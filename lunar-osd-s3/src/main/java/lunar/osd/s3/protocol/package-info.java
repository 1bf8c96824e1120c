/** Parts of the S3 protocol as values: request lines, errors, documents, ranges and conditions. No I/O, no threads. */
@NullMarked
package lunar.osd.s3.protocol;

import org.jspecify.annotations.NullMarked;
