/**
 * Superblocks and owner records on members. Not exported.
 *
 * <p>{@link lunar.raid.metadata.superblock.SuperblockStore} reads and writes the superblock of one device, {@link
 * lunar.raid.metadata.superblock.Superblocks} changes the superblocks of all members of a running volume, {@link
 * lunar.raid.metadata.superblock.OwnerRecordStore} reads and replaces the record of the process that uses the volume,
 * and {@link lunar.raid.metadata.superblock.DeviceSignatures} tells whether a device is in other use.
 *
 * <p>Threading: {@code Superblocks} is for any thread, and reports by callbacks; the others block, and belong to one
 * thread at a time.
 */
@NullMarked
package lunar.raid.metadata.superblock;

import org.jspecify.annotations.NullMarked;
