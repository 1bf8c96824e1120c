/**
 * The members of a volume: requests to them, and what state they are in. Not exported.
 *
 * <p>A {@link lunar.raid.engine.member.MemberIo} is a request to a {@link lunar.raid.engine.member.Member}, queued by
 * its {@link lunar.raid.engine.member.MemberQueue} and retried. {@link lunar.raid.engine.member.Slots} is an immutable
 * view of all members and their states; {@link lunar.raid.engine.member.Membership} changes it, and has each change
 * made stable before anything relies on it. {@link lunar.raid.engine.member.LossCheck} decides about members that have
 * lost acknowledged writes.
 *
 * <p>Threading: for any thread. Callbacks run on the thread that completes a request, while no lock is held; {@link
 * lunar.raid.engine.member.Trampoline} keeps the stack flat.
 */
@NullMarked
package lunar.raid.engine.member;

import org.jspecify.annotations.NullMarked;
