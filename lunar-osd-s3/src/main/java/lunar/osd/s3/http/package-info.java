/**
 * The S3 protocol over HTTP: {@link lunar.osd.s3.http.S3Handler} authenticates a request, finds its operation and
 * answers errors. An operation runs on the thread of its request.
 */
@NullMarked
package lunar.osd.s3.http;

import org.jspecify.annotations.NullMarked;
