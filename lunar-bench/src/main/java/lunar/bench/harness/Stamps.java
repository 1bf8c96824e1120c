package lunar.bench.harness;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.block.BlockDevice;
import lunar.block.StorageException;

/** Stamps each 4 KiB piece of a measured disk with its index, at both ends, so that reads can be verified. */
public final class Stamps {
    /** Bytes of a piece, and of a measured request. */
    public static final int BYTES = 4096;

    private static final int PIECES_AT_ONCE = 64;
    private static final long LAST = BYTES - Long.BYTES;
    private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG_UNALIGNED;
    /** Keeps the stamp of piece 0 distinct from the zeroes of a disk that was never written. */
    private static final long SALT = 0x9e37_79b9_7f4a_7c15L;

    private Stamps() {}

    public static void put(MemorySegment piece, int place) {
        piece.set(NUMBER, 0, place ^ SALT);
        piece.set(NUMBER, LAST, place ^ SALT);
    }

    public static boolean isAt(MemorySegment piece, int place) {
        return piece.get(NUMBER, 0) == (place ^ SALT) && piece.get(NUMBER, LAST) == (place ^ SALT);
    }

    public static void check(MemorySegment piece, int place) throws BenchException {
        if (!isAt(piece, place)) {
            throw new BenchException("wrong data read at byte " + (long) place * BYTES);
        }
    }

    /** Stamps a whole disk: piece {@code i} gets the stamp of {@code first + i}. */
    public static void fill(BlockDevice disk, int first) throws StorageException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment buffer = arena.allocate((long) PIECES_AT_ONCE * BYTES, BYTES);
            int pieces = Math.toIntExact(disk.sizeBytes() / BYTES);
            for (int place = 0; place < pieces; place += PIECES_AT_ONCE) {
                int count = Math.min(PIECES_AT_ONCE, pieces - place);
                for (int i = 0; i < count; i++) {
                    put(buffer.asSlice((long) i * BYTES, BYTES), first + place + i);
                }
                disk.write((long) place * BYTES / disk.blockSize(),
                        buffer.asSlice(0, (long) count * BYTES));
            }
        }
    }
}
