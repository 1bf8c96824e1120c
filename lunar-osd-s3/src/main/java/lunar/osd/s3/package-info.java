/**
 * The S3 protocol over an object-based storage device: unmodified S3 clients store objects on it. A bucket is a
 * partition, a key is a user object; {@code docs/s3.md} has the mapping, what is supported, and the limits.
 *
 * <pre>{@code
 * var options = S3Options.DEFAULT.withKeys(AccessKeyFile.read(Path.of("s3.keys")));
 * try (S3Server server = S3Server.start(backend, options)) {
 *     serve(server.address());                               // until the process ends
 * }
 * }</pre>
 *
 * <p>One server writes to a device at a time.
 */
@NullMarked
package lunar.osd.s3;

import org.jspecify.annotations.NullMarked;
