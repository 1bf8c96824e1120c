/**
 * AWS Signature Version 4: {@link lunar.osd.s3.signature.Authenticator} verifies the signature of a request, in its
 * headers or its query, and says how its body is signed; {@link lunar.osd.s3.signature.ChunkedInput} verifies bodies
 * that are signed chunk by chunk. Secrets are in no exception, log line or text.
 */
@NullMarked
package lunar.osd.s3.signature;

import org.jspecify.annotations.NullMarked;
