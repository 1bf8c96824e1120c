/**
 * The journal of changes of stripes with parity. Not exported.
 *
 * <p>{@link lunar.raid.metadata.journal.VolumeJournal} distributes the entries of a volume over sections; each is a
 * {@link lunar.raid.metadata.journal.StripeJournal}, a ring on some of the members or on a device of its own. {@link
 * lunar.raid.metadata.journal.JournalReplay} writes in place after a crash what the journal has, and {@link
 * lunar.raid.metadata.journal.JournalFormat} is the format of entries.
 *
 * <p>Threading: for any thread, without a thread or clock of its own; opening and replay block.
 */
@NullMarked
package lunar.raid.metadata.journal;

import org.jspecify.annotations.NullMarked;
