/**
 * Buckets and keys on partitions and user objects. {@link lunar.osd.s3.bucket.Buckets} finds or creates a
 * {@link lunar.osd.s3.bucket.Bucket}, which has keys, data and multipart uploads.
 *
 * <p>A key is a <i>head</i>: a user object without data, whose identifier is a hash of the key. One attribute of it,
 * the record, describes the object of the key and names the user object that has the data. Data are written to a user
 * object of their own first; setting the record then makes them the object of the key, in one step. So a reader, and
 * a crash, finds the old or the new object. Data that no record names are removed by {@link lunar.osd.s3.bucket.Sweep}.
 *
 * <p>One process writes to a device by these classes. All types that are shared are thread-safe.
 */
@NullMarked
package lunar.osd.s3.bucket;

import org.jspecify.annotations.NullMarked;
