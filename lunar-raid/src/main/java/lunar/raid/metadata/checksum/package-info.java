/**
 * Checksums of the blocks of members. Not exported.
 *
 * <p>{@link lunar.raid.metadata.checksum.MemberChecksums} wraps the members of a volume in {@link
 * lunar.raid.metadata.checksum.ChecksummedMember}, which updates checksums with each write and verifies reads by a
 * {@code ChecksumRequest}; {@code ChecksumCache} has the pages of checksums in use.
 *
 * <p>Threading: for any thread, without a thread or clock of its own.
 */
@NullMarked
package lunar.raid.metadata.checksum;

import org.jspecify.annotations.NullMarked;
