/**
 * The metadata of a RAID volume, kept on its members, as docs/raid-format.md describes: which members belong to it,
 * which regions are being written, what is about to be written in place and which blocks are lost.
 *
 * <p>{@link lunar.raid.metadata.Creation} writes it for a new volume, a {@link lunar.raid.metadata.Candidate} is what
 * is found on a device, and {@link lunar.raid.metadata.Assembly} decides from candidates, without any I/O, whether and
 * how a volume can be assembled. {@link lunar.raid.metadata.VolumeMetadata} opens that {@link
 * lunar.raid.metadata.Composition}, after replaying what a crash has left, and from then on guards the volume's writes
 * and keeps its state. {@link lunar.raid.metadata.Growth} adds members.
 *
 * <p>{@link lunar.raid.metadata.record} has the contents of superblocks as values. The other packages below are not
 * exported: {@code page} (pages on members, and requests to all members at once), {@code superblock}, {@code bitmap}
 * (intent bitmap and bad-block list), {@code journal}, {@code checksum}.
 *
 * <p><b>Crashes.</b> The power may be cut at any moment, at each member by itself. Each page has two locations that are
 * written in turn, so one of them is whole. What is on a member is untrusted: lengths are checked before memory is
 * allocated, and what breaks a rule is refused.
 *
 * <p><b>Threads.</b> Nothing here has a thread or a clock. The ends of operations are reported by callbacks, which
 * run on the thread that completes the last request, or on the caller's before the call returns; never while a lock is
 * held. All public types may be used by any number of threads.
 */
@NullMarked
package lunar.raid.metadata;

import org.jspecify.annotations.NullMarked;
