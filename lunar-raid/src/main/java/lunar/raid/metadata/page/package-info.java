/**
 * Pages of metadata on members, and requests to all members at once. Not exported.
 *
 * <p>A {@link lunar.raid.metadata.page.Page} is 4 KiB with a checksum and a generation; a {@link
 * lunar.raid.metadata.page.PageWriter} writes one kind of page to the members of a {@link
 * lunar.raid.metadata.page.MemberSet}, and combines the changes that arrive while a write is under way. A {@link
 * lunar.raid.metadata.page.Broadcast} sends a request to several members and waits until each has succeeded or was
 * dropped.
 *
 * <p>Threading: for any thread, unless a type says otherwise; no thread and no clock of its own. Callbacks run while no
 * lock is held.
 */
@NullMarked
package lunar.raid.metadata.page;

import org.jspecify.annotations.NullMarked;
