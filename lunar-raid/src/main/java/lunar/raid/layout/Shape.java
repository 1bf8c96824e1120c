package lunar.raid.layout;

import java.util.Collections;
import java.util.List;
import lunar.block.Size;

/**
 * The geometry of a volume.
 *
 * @param level the RAID level
 * @param blockSize bytes of a block, of the volume and of each member: 512 or 4096
 * @param chunkBlocks blocks of a chunk: the contiguous blocks on one member before the next member follows. For {@link
 *        Level#RAID1} and {@link Level#LINEAR}, which are not striped, what is written or rebuilt at once
 * @param memberBlocks blocks of each member's data area, by slot; equal but for {@link Level#LINEAR}
 */
public record Shape(Level level, int blockSize, int chunkBlocks, List<Long> memberBlocks) {
    /** Maximum number of members, so that a set of slots is one long. */
    public static final int MAX_MEMBERS = 64;

    /** Bytes of the smallest chunk. */
    public static final int MIN_CHUNK_BYTES = 4096;

    /** Bytes of the largest chunk; bounded, since stripes are computed in memory. */
    public static final int MAX_CHUNK_BYTES = 16 << 20;

    /** Default chunk size of striped levels, in bytes. */
    public static final int DEFAULT_CHUNK_BYTES = 64 << 10;

    /** Default chunk size of levels that are not striped, in bytes; large, so that long requests stay whole. */
    public static final int DEFAULT_UNTURNED_CHUNK_BYTES = 1 << 20;

    public Shape {
        memberBlocks = List.copyOf(memberBlocks);
        if (blockSize != 512 && blockSize != 4096) {
            throw new IllegalArgumentException(
                    "blocks are of 512 or 4096 bytes, not " + blockSize);
        }
        long chunkBytes = (long) chunkBlocks * blockSize;
        if (Long.bitCount(chunkBytes) != 1 || chunkBytes < MIN_CHUNK_BYTES
                || chunkBytes > MAX_CHUNK_BYTES) {
            throw new IllegalArgumentException(
                    "a chunk is a power of two from " + Size.format(MIN_CHUNK_BYTES) + " to "
                            + Size.format(MAX_CHUNK_BYTES) + ", not " + chunkBytes + " bytes");
        }
        int members = memberBlocks.size();
        if (members < level.minMembers()) {
            throw new IllegalArgumentException(level + " takes at least " + level.minMembers()
                    + " members, not " + members + hint(level));
        }
        if (members > MAX_MEMBERS) {
            throw new IllegalArgumentException(
                    "a volume has at most " + MAX_MEMBERS + " members, not " + members);
        }
        for (long blocks : memberBlocks) {
            if (blocks < chunkBlocks) {
                throw new IllegalArgumentException("a member has room for " + blocks
                        + " blocks, less than a chunk of " + chunkBlocks
                        + ": take a smaller chunk or a larger member");
            }
            if (blocks > Long.MAX_VALUE / blockSize / MAX_MEMBERS) {
                throw new IllegalArgumentException(
                        "impossible number of blocks on a member: " + blocks);
            }
            if (level != Level.LINEAR && blocks != memberBlocks.getFirst()) {
                throw new IllegalArgumentException(level + " takes members of one size, not "
                        + memberBlocks.getFirst() + " and " + blocks + " blocks");
            }
        }
    }

    private static String hint(Level level) {
        return switch (level) {
            case RAID5 -> ": for two take RAID 1";
            case RAID6 -> ": for three take RAID 5, or RAID 1 which outlives two losses";
            default -> "";
        };
    }

    /** A shape of members of one size. */
    public static Shape of(Level level, int blockSize, int chunkBlocks, int members,
            long memberBlocks) {
        return new Shape(level, blockSize, chunkBlocks,
                Collections.nCopies(Math.max(0, members), memberBlocks));
    }

    /** Returns the shape that fits devices with room for these blocks: as large as the smallest, except for LINEAR. */
    public static Shape fitting(Level level, int blockSize, int chunkBlocks,
            List<Long> roomBlocks) {
        if (level == Level.LINEAR || roomBlocks.isEmpty()) {
            return new Shape(level, blockSize, chunkBlocks, roomBlocks);
        }
        long smallest = Collections.min(roomBlocks);
        return of(level, blockSize, chunkBlocks, roomBlocks.size(), smallest);
    }

    /** Returns the default chunk size of a level, in bytes. */
    public static int defaultChunkBytes(Level level) {
        return level == Level.RAID1 || level == Level.LINEAR
                ? DEFAULT_UNTURNED_CHUNK_BYTES
                : DEFAULT_CHUNK_BYTES;
    }

    /** Returns the number of members, missing ones included. */
    public int members() {
        return memberBlocks.size();
    }

    /** Bytes of a chunk. */
    public int chunkBytes() { return chunkBlocks * blockSize; }

    /** Returns the number of whole chunks on the member of a slot; the rest of it is not used. */
    public long chunks(int slot) {
        return memberBlocks.get(slot) / chunkBlocks;
    }
}
