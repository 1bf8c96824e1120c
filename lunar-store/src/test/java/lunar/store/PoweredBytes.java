package lunar.store;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import lunar.testkit.PowerCutDevice;

/**
 * Bytes on a disk that loses power with others in the middle of a write or sync: each block that was not made stable is
 * written or not. With a bound on the writes that the system has executed instead, only the process dies: what it has
 * written stays.
 */
final class PoweredBytes implements StableBytes {
    private static final int BLOCK_BYTES = 512;

    /** Of all disks that share it. */
    static final class Supply {
        private int left;
        final Random random;

        /** @param requests that are done before the power is cut */
        Supply(int requests, Random random) {
            this.left = requests;
            this.random = random;
        }

        boolean isCut() { return left < 0; }

        private boolean isLast() {
            if (left < 0) {
                throw new IllegalStateException("used without power");
            }
            return left-- == 0;
        }
    }

    private final PowerCutDevice disk;
    private final Supply supply;

    PoweredBytes(PowerCutDevice disk, Supply supply) {
        this.disk = disk;
        this.supply = supply;
    }

    /** Returns the content after power is restored. */
    PowerCutDevice afterCut() {
        return disk.afterCut(Long.MAX_VALUE);
    }

    PowerCutDevice disk() { return disk; }

    @Override
    public void read(long offsetBytes, MemorySegment into) throws IOException {
        disk.read(offsetBytes / BLOCK_BYTES, into);
    }

    @Override
    public void write(long offsetBytes, MemorySegment from) throws IOException {
        boolean last = supply.isLast();
        for (long at = 0; at < from.byteSize(); at += BLOCK_BYTES) {
            if (!last || supply.random.nextBoolean()) {
                disk.write((offsetBytes + at) / BLOCK_BYTES, from.asSlice(at, BLOCK_BYTES));
            }
        }
        cut(last);
    }

    @Override
    public void sync() throws IOException {
        boolean last = supply.isLast();
        if (!last) {
            disk.flush();
        }
        cut(last);
    }

    private static void cut(boolean last) throws IOException {
        if (last) {
            throw new IOException("the power was cut");
        }
    }
}
