/**
 * The state of regions and blocks of a volume: {@link lunar.raid.metadata.bitmap.IntentBitmap} records the
 * regions that are being written, {@link lunar.raid.metadata.bitmap.BadBlocks} the blocks that have lost their content.
 * Each is a page on all members. Not exported.
 *
 * <p>Threading: for any thread, without a thread or clock of its own; opening blocks.
 */
@NullMarked
package lunar.raid.metadata.bitmap;

import org.jspecify.annotations.NullMarked;
