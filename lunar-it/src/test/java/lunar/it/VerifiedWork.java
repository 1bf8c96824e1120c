package lunar.it;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockDevice;

/** Worker that writes, reads and compares blocks of its own until it is stopped. */
final class VerifiedWork {
    private static final int MAX_BYTES = 2 << 20;

    private VerifiedWork() {}

    /**
     * Starts on a thread of its own.
     *
     * @param blocks blocks that only this worker writes, from {@code first} on; a write is up to half of them
     * @return how many rounds there were, one at least; fails where a block is not what was written
     */
    static Future<Integer> start(BlockDevice device, long first, int blocks, long seed,
            AtomicBoolean enough) {
        var done = new CompletableFuture<Integer>();
        Thread.ofVirtual().start(() -> {
            int rounds = 0;
            var random = new Random(seed);
            int most = Math.min(blocks / 2, MAX_BYTES / device.blockSize());
            try (Arena arena = Arena.ofShared()) {
                MemorySegment out = arena.allocate((long) most * device.blockSize());
                MemorySegment in = arena.allocate((long) most * device.blockSize());
                do {
                    // As many small ones as large ones.
                    int count = 1 + random.nextInt(1 << random.nextInt(32 - Integer
                            .numberOfLeadingZeros(most)));
                    long lba = first + random.nextInt(blocks - count);
                    MemorySegment wrote = out.asSlice(0, (long) count * device.blockSize());
                    MemorySegment read = in.asSlice(0, (long) count * device.blockSize());
                    wrote.fill((byte) (1 + random.nextInt(255)));
                    device.write(lba, wrote);
                    read.fill((byte) 0);
                    device.read(lba, read);
                    if (read.mismatch(wrote) >= 0) {
                        throw new AssertionError("block " + lba + " is not what was written");
                    }
                    rounds++;
                } while (!enough.get());
                done.complete(rounds);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }
}
