/**
 * Portals, logins, connections and sessions of a target server; not exported.
 *
 * <p>They share {@code ServerState}. A {@code Connection} accepted by a {@code BoundPortal} is first in its
 * {@code LoginPhase}, with {@code Admissions} for access control, then in {@code FullFeature}, which passes SCSI
 * commands on to {@code lunar.target.internal.task}, and all other requests to {@code NonScsiRequests}. A
 * {@code Session} is one I_T nexus at a {@code TargetNode}, with its connections, open and lost ones.
 *
 * <p>Threading: a session with all its state is confined to the thread of its connections' event loop. Sessions
 * interact through {@code Sessions}, {@code TargetNode} and {@code Nexus}, which are thread-safe.
 *
 * <p>Uses {@code lunar.target.internal.task} and the descriptions of {@code lunar.target}, never its server.
 */
@NullMarked
package lunar.target.internal.session;

import org.jspecify.annotations.NullMarked;
