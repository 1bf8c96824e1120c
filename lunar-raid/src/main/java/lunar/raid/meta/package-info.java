/**
 * The metadata of a RAID volume, kept on its members: which members belong to it ({@link lunar.raid.meta.Superblock}),
 * which regions are being written ({@link lunar.raid.meta.IntentBitmap}), what is about to be written in place ({@link
 * lunar.raid.meta.VolumeJournal}) and which blocks are lost ({@link lunar.raid.meta.BadBlocks}). The format on the
 * members is described in docs/raid-format.md.
 *
 * <p>{@link lunar.raid.meta.Creation} writes it for a new volume, {@link lunar.raid.meta.SuperblockStore} finds it
 * again, and {@link lunar.raid.meta.Assembly} decides from what was found, without any I/O, whether and how a volume
 * can be put together. From then on {@link lunar.raid.meta.Superblocks} changes it.
 *
 * <p><b>Crashes.</b> The power may be cut at any moment, at each member by itself. Each page has two places that are
 * written in turn, so one of them is whole. What is on a member is taken for hostile: lengths are checked before memory
 * is taken, and what breaks a rule is refused.
 *
 * <p><b>Threads.</b> Nothing here has a thread or a clock. What begins and ends with I/O is told by callbacks, which
 * run on the thread that completes the last request, or on the caller's before the call returns; never while a lock is
 * held. All public types may be used by any number of threads.
 */
@NullMarked
package lunar.raid.meta;

import org.jspecify.annotations.NullMarked;
