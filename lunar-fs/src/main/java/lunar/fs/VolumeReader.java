package lunar.fs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import lunar.block.BlockDevice;

/**
 * Reads byte ranges of a volume through an LRU page cache, which long reads bypass. Nothing outside the volume can be
 * read. Thread-safe: two threads that miss the same page both read it.
 */
final class VolumeReader {
    static final int PAGE_BYTES = 16 << 10;

    private static final int MAX_PAGES = 256;
    private static final int MAX_DIRECT_BYTES = 1 << 20;

    private final BlockDevice device;
    private final long deviceBytes;
    private final long offsetBytes;
    private final long sizeBytes;
    private final int directBytes;

    /** By their number on the device. Guarded by itself. */
    private final Map<Long, byte[]> pages = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, byte[]> eldest) {
            return size() > MAX_PAGES;
        }
    };

    VolumeReader(BlockDevice device, long offsetBytes, long sizeBytes) {
        this.device = device;
        deviceBytes = device.sizeBytes();
        if (offsetBytes < 0 || sizeBytes < 0 || offsetBytes > deviceBytes - sizeBytes) {
            throw new IllegalArgumentException(sizeBytes + " bytes from " + offsetBytes
                    + " on exceed a device of " + deviceBytes + " bytes");
        }
        this.offsetBytes = offsetBytes;
        this.sizeBytes = sizeBytes;
        long transferBytes = (long) device.limits().maxTransferBlocks() * device.blockSize();
        directBytes = (int) Math.min(transferBytes, MAX_DIRECT_BYTES);
    }

    /** Returns a reader of a device from end to end. */
    static VolumeReader ofWhole(BlockDevice device) {
        return new VolumeReader(device, 0, device.sizeBytes());
    }

    long sizeBytes() { return sizeBytes; }

    /** Whether there are so many bytes at this position. */
    boolean has(long position, long count) {
        return position >= 0 && count >= 0 && position <= sizeBytes - count;
    }

    /** A few bytes; the caller has seen to it that they are few. */
    byte[] read(long position, int count) throws IOException {
        requireInside(position, count);
        byte[] bytes = new byte[count];
        read(position, bytes, 0, count);
        return bytes;
    }

    /** @throws CorruptException if some of the bytes are not on the volume; nothing is read then */
    void read(long position, byte[] into, int at, int count) throws IOException {
        requireInside(position, count);
        long from = offsetBytes + position;
        int done = 0;
        while (done < count) {
            int rest = count - done;
            long next = from + done;
            if (rest >= 2 * PAGE_BYTES && next % device.blockSize() == 0) {
                int whole = Math.min(rest, directBytes) / device.blockSize() * device.blockSize();
                device.read(next / device.blockSize(),
                        MemorySegment.ofArray(into).asSlice(at + done, whole));
                done += whole;
            } else {
                byte[] page = page(next / PAGE_BYTES);
                int within = (int) (next % PAGE_BYTES);
                int part = Math.min(rest, page.length - within);
                System.arraycopy(page, within, into, at + done, part);
                done += part;
            }
        }
    }

    private void requireInside(long position, int count) throws CorruptException {
        if (!has(position, count)) {
            throw new CorruptException("a pointer refers to byte " + position + ", " + count
                    + " bytes, of a volume of " + sizeBytes + " bytes");
        }
    }

    private byte[] page(long number) throws IOException {
        synchronized (pages) {
            byte[] known = pages.get(number);
            if (known != null) {
                return known;
            }
        }
        long from = number * PAGE_BYTES;
        byte[] page = new byte[(int) Math.min(PAGE_BYTES, deviceBytes - from)];
        int step = Math.min(directBytes, PAGE_BYTES);
        for (int at = 0; at < page.length; at += step) {
            device.read((from + at) / device.blockSize(), MemorySegment.ofArray(page).asSlice(at,
                    Math.min(step, page.length - at)));
        }
        synchronized (pages) {
            pages.put(number, page);
        }
        return page;
    }

    /** Whether these bytes are there and are the ones named. */
    boolean startsWith(long position, byte[] expected) throws IOException {
        return has(position, expected.length)
                && Arrays.equals(read(position, expected.length), expected);
    }
}
