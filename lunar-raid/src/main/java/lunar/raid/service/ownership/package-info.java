/**
 * Keeps a volume to one process (docs/adr/011-one-owner-per-volume.md). Not exported.
 *
 * <p>{@link lunar.raid.service.ownership.Ownership} takes a volume: it writes the owner record to the members, by a
 * {@link lunar.raid.service.ownership.OwnedMember} each. {@link lunar.raid.service.ownership.Heartbeats} confirms the
 * record there, and a {@link lunar.raid.service.ownership.Lease} holds back requests to members while it is not certain
 * that the record is still there.
 *
 * <p>Threading: for any thread; heartbeats have threads of their own.
 */
@NullMarked
package lunar.raid.service.ownership;

import org.jspecify.annotations.NullMarked;
