/**
 * The files of a device in a web browser: {@link lunar.cli.browse.BrowseServer} answers GET and HEAD, and nothing else.
 *
 * <p>Paths are {@code /VOLUME/PATH}, with the number of the partition, or 0 for a device without any. Paths of the host
 * are never used, so its files are not accessible. A directory is returned as a page, or as JSON if
 * {@code ?format=json} or the Accept header requests it; a file as its bytes, completely or as a range.
 *
 * <p><b>Hostile content.</b> Files come from an image that may be hostile: they are sent with a policy that sandboxes
 * them without scripts and without the page's origin, and with a content type that browsers must not sniff. Names are
 * escaped. Pages contain no script and load nothing. If the server listens on a loopback address, requests with another
 * host name are rejected, which prevents DNS rebinding.
 *
 * <p>Threading: each request runs on a virtual thread.
 */
@NullMarked
package lunar.cli.browse;

import org.jspecify.annotations.NullMarked;
