package lunar.store;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A redo log with a single entry: the data and position of an atomic write. Checksums in its header show whether it is
 * complete, so header and data need only one sync.
 *
 * <pre>
 *    0  magic "LUNARATM"             24  offset in the image, bytes
 *    8  version, 1                   32  length, bytes
 *   12  CRC32C of the data           40  CRC32C of bytes 0 to 39
 *   16  identity of the image        4096  data
 * </pre>
 *
 * Big-endian. Not thread-safe.
 */
final class AtomicLog {
    static final int HEADER_BYTES = 4096;
    static final int MAX_DATA_BYTES = 1 << 20;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final long MAGIC = 0x4c55_4e41_5241_544dL;
    private static final int VERSION = 1;
    private static final int AT_VERSION = 8;
    private static final int AT_DATA_CRC = 12;
    private static final int AT_IMAGE = 16;
    private static final int AT_OFFSET = 24;
    private static final int AT_LENGTH = 32;
    private static final int AT_CRC = 40;

    /**
     * An atomic write that was begun.
     *
     * @param image identity of the image that it is for
     */
    record Entry(long image, long offsetBytes, MemorySegment data) {}

    private final StableBytes bytes;
    private final long image;

    /** @param image identifies the image, as opposed to another one with its name */
    AtomicLog(StableBytes bytes, long image) {
        this.bytes = bytes;
        this.image = image;
    }

    /** Records a write; stable when the method returns. The log must have been cleared before. */
    void record(long offsetBytes, MemorySegment data) throws IOException {
        MemorySegment header = MemorySegment.ofArray(new byte[HEADER_BYTES]);
        header.set(LONG, 0, MAGIC);
        header.set(INT, AT_VERSION, VERSION);
        header.set(INT, AT_DATA_CRC, crc(data));
        header.set(LONG, AT_IMAGE, image);
        header.set(LONG, AT_OFFSET, offsetBytes);
        header.set(LONG, AT_LENGTH, data.byteSize());
        header.set(INT, AT_CRC, crc(header.asSlice(0, AT_CRC)));
        bytes.write(HEADER_BYTES, data);
        bytes.write(0, header);
        bytes.sync();
    }

    /** Clears the log; stable when the method returns. */
    void clear() throws IOException {
        bytes.write(0, MemorySegment.ofArray(new byte[HEADER_BYTES]));
        bytes.sync();
    }

    /** Returns what is recorded, if it is whole. */
    Optional<Entry> pending() throws IOException {
        MemorySegment header = Arena.ofAuto().allocate(HEADER_BYTES);
        bytes.read(0, header);
        long length = header.get(LONG, AT_LENGTH);
        if (header.get(LONG, 0) != MAGIC || header.get(INT, AT_VERSION) != VERSION
                || header.get(INT, AT_CRC) != crc(header.asSlice(0, AT_CRC)) || length <= 0
                || length > MAX_DATA_BYTES) {
            return Optional.empty();
        }
        MemorySegment data = Arena.ofAuto().allocate(length, 4096);
        bytes.read(HEADER_BYTES, data);
        return header.get(INT, AT_DATA_CRC) == crc(data)
                ? Optional.of(new Entry(header.get(LONG, AT_IMAGE), header.get(LONG, AT_OFFSET),
                        data))
                : Optional.empty();
    }

    private static int crc(MemorySegment data) {
        var crc = new CRC32C();
        crc.update(data.toArray(ValueLayout.JAVA_BYTE));
        return (int) crc.getValue();
    }
}
