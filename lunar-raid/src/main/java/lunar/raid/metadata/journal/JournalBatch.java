package lunar.raid.metadata.journal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.raid.metadata.journal.JournalFormat.Kind;
import lunar.raid.metadata.page.WaiterQueue;
import org.jspecify.annotations.Nullable;

/** Neighbouring entries that are written at once. The journal's lock guards it. */
final class JournalBatch {
    private final int capacityBytes;
    private final UUID key;
    private final CRC32C crc = new CRC32C();
    private final WaiterQueue entries = new WaiterQueue();
    private MemorySegment buffer;
    private ByteBuffer bytes;
    /** The start of the buffer, by its length in writes; made when first used. */
    private final @Nullable MemorySegment[] slices;
    /** Offset of its begin in the ring. */
    private long position;
    private int lengthBytes;
    private int lastAt;
    private boolean closed;

    JournalBatch(int capacityBytes, UUID key) {
        this.capacityBytes = capacityBytes;
        this.key = key;
        buffer = Arena.ofAuto().allocate(capacityBytes, JournalFormat.WRITE_BYTES);
        bytes = buffer.asByteBuffer();
        slices = new @Nullable MemorySegment[capacityBytes / JournalFormat.WRITE_BYTES + 1];
    }

    /** Makes it empty, to begin at this position of the ring. */
    void reset(long ringPosition) {
        position = ringPosition;
        lengthBytes = 0;
        closed = false;
    }

    /** A member that does not answer keeps the buffer. */
    void replaceBuffer() {
        buffer = Arena.ofAuto().allocate(capacityBytes, JournalFormat.WRITE_BYTES);
        bytes = buffer.asByteBuffer();
        Arrays.fill(slices, null);
    }

    boolean isEmpty() { return lengthBytes == 0; }

    boolean hasRoom(int entryBytes) { return !closed && entryBytes <= capacityBytes - lengthBytes; }

    void add(JournalEntry entry, long tailSequence, long tailPosition) {
        JournalFormat.putHead(bytes, lengthBytes, entry.kind(), key, entry.sequence(), tailSequence,
                tailPosition, entry.stripe(), entry.extents());
        entry.put(buffer, bytes, lengthBytes);
        JournalFormat.sealHead(bytes, lengthBytes, entry.lengthBytes(), crc);
        lastAt = lengthBytes;
        lengthBytes += entry.lengthBytes();
        entries.add(entry);
    }

    /** Adds a pad: the next entry is at the start of the ring. */
    void addPad(long sequence, long tailSequence, long tailPosition, int padBytes) {
        JournalFormat.putHead(bytes, lengthBytes, Kind.PAD, key, sequence, tailSequence,
                tailPosition, 0, 0);
        JournalFormat.sealHead(bytes, lengthBytes, padBytes, crc);
        lengthBytes += JournalFormat.headBytes(0);
        closed = true;
    }

    /**
     * Nothing more comes in: fills up the last write.
     *
     * @return bytes by which the last entry has become longer
     */
    int seal() {
        int whole = Math.ceilDiv(lengthBytes, JournalFormat.WRITE_BYTES)
                * JournalFormat.WRITE_BYTES;
        int fill = whole - lengthBytes;
        for (int at = lengthBytes; at < whole; at += Long.BYTES) {
            bytes.putLong(at, 0);
        }
        if (!closed && fill > 0) {
            JournalFormat.sealHead(bytes, lastAt, lengthBytes - lastAt + fill, crc);
        }
        lengthBytes = whole;
        return closed ? 0 : fill;
    }

    /** Makes a request of writing it. */
    void prepare(BlockDevice device, long ringAtBytes, BlockRequest request) {
        MemorySegment whole = slices[lengthBytes / JournalFormat.WRITE_BYTES];
        if (whole == null) {
            whole = buffer.asSlice(0, lengthBytes);
            slices[lengthBytes / JournalFormat.WRITE_BYTES] = whole;
        }
        request.asWrite((ringAtBytes + position) / device.blockSize(),
                lengthBytes / device.blockSize(), whole, true);
    }

    WaiterQueue entries() { return entries; }
}
