/**
 * Cryptography of the security methods CAPKEY, CMDRSP and ALLDATA (T10 OSD-2 and OSD-1): keys and their derivation,
 * credentials, integrity check values, and the permissions that each command needs. Pure functions of bytes, which both
 * ends of a connection use.
 *
 * <p>{@link lunar.osd.security.SecretKey} is a key of the hierarchy; {@link lunar.osd.security.Credential} is what its
 * holder issues; {@link lunar.osd.security.IntegrityValues} computes what goes over the wire;
 * {@link lunar.osd.security.RequiredAccess} is the table of permissions.
 *
 * <p>The layouts are those of published headers. What the integrity check values cover, and how a seed becomes a key,
 * is built from descriptions of the protocol (Factor, Nagle, Naor, Riedel and Satran, "The OSD Security Protocol",
 * SISW 2005, and the drafts T10/1355-D and T10/1729-D); no peer of another origin has confirmed it. Each such decision
 * is stated at the method that makes it.
 *
 * <p>Immutable values and static functions: thread-safe. Nothing here writes secrets into texts for people.
 */
@NullMarked
package lunar.osd.security;

import org.jspecify.annotations.NullMarked;
