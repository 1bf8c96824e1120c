/**
 * The files of a device in a web browser: {@link lunar.cli.browse.BrowseServer} answers GET and HEAD, and nothing else.
 *
 * <p>Paths are {@code /VOLUME/PATH}, with the number of the partition, or 0 for a device without any. There is no path
 * of the host anywhere, so none can be reached. A directory is a page, or JSON where {@code ?format=json} or the Accept
 * header asks for it; a file is its bytes, in whole or in a range.
 *
 * <p><b>Hostile content.</b> Files come from an image that may be hostile: they are sent with a policy that puts them
 * into a sandbox without scripts and without the page's origin, and with a type that browsers must not guess at. Names
 * are escaped. A page has no script and loads nothing. Where the server listens on a loopback address, requests under
 * another host's name are refused, so that no web page can reach it by a name of its own (DNS rebinding).
 *
 * <p>Threading: each request has a virtual thread.
 */
@NullMarked
package lunar.cli.browse;

import org.jspecify.annotations.NullMarked;
