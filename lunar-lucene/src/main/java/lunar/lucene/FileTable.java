package lunar.lucene;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.lucene.index.CorruptIndexException;

/**
 * The table of all files with their units, as stored on the device.
 *
 * <pre>
 * 0  magic (8)           8  version (4)       12 checksum of the rest, CRC32C (4)
 * 16 image (16)          32 generation (8)    40 next file id (8)
 * 48 files (4)           52 bytes of what follows (4)
 * 56 each file: bytes of the name (2), name in UTF-8, id (8), length (8), runs (4), each run: first unit (8), units (8)
 * </pre>
 *
 * @param generation incremented by each commit, from 1
 * @param nextId larger than all ids ever used
 */
record FileTable(long generation, long nextId, List<Entry> files) {
    /**
     * A file.
     *
     * @param id unlike that of any other file of the image, ever
     * @param length in bytes
     * @param runs its units, in order; as many as the length needs
     */
    record Entry(String name, long id, long length, List<UnitRun> runs) {
        int encodedBytes() {
            return FILE_BYTES + name.getBytes(StandardCharsets.UTF_8).length
                    + runs.size() * RUN_BYTES;
        }
    }

    static final int HEADER_BYTES = 56;
    static final int MAX_NAME_BYTES = 255;

    private static final int FILE_BYTES = 22;
    private static final int RUN_BYTES = 16;
    private static final long MAGIC = 0x4C554E4152544142L; // "LUNARTAB"
    private static final int VERSION = 1;
    private static final int CRC_AT = 12;

    FileTable {
        files = List.copyOf(files);
    }

    static FileTable empty() { return new FileTable(1, 0, List.of()); }

    int encodedBytes() {
        long bytes = HEADER_BYTES;
        for (Entry file : files) {
            bytes += file.encodedBytes();
        }
        return Math.toIntExact(bytes);
    }

    /** The table, filled up with zeroes to whole units. */
    byte[] encode(UUID image) {
        int bytes = encodedBytes();
        int units = Math.ceilDiv(bytes, Layout.UNIT_BYTES);
        ByteBuffer out = ByteBuffer.allocate(Math.multiplyExact(units, Layout.UNIT_BYTES));
        out.putLong(MAGIC).putInt(VERSION).putInt(0);
        out.putLong(image.getMostSignificantBits()).putLong(image.getLeastSignificantBits());
        out.putLong(generation).putLong(nextId).putInt(files.size()).putInt(bytes - HEADER_BYTES);
        for (Entry file : files) {
            byte[] name = file.name().getBytes(StandardCharsets.UTF_8);
            out.putShort((short) name.length).put(name);
            out.putLong(file.id()).putLong(file.length()).putInt(file.runs().size());
            file.runs().forEach(run -> out.putLong(run.first()).putLong(run.count()));
        }
        return out.putInt(CRC_AT, crc(out.array(), bytes)).array();
    }

    private static int crc(byte[] table, int bytes) {
        var crc = new CRC32C();
        crc.update(table, CRC_AT + Integer.BYTES, bytes - CRC_AT - Integer.BYTES);
        return (int) crc.getValue();
    }

    /**
     * Bytes of a table whose first unit this is.
     *
     * @throws CorruptIndexException if it is none of this image, or longer than an area
     */
    static int encodedBytes(byte[] firstUnit, Layout layout, String device)
            throws CorruptIndexException {
        ByteBuffer in = ByteBuffer.wrap(firstUnit);
        if (in.getLong() != MAGIC || in.getInt() != VERSION) {
            throw new CorruptIndexException("the metadata area contains no file table", device);
        }
        in.getInt();
        if (!new UUID(in.getLong(), in.getLong()).equals(layout.image())) {
            throw new CorruptIndexException("the file table belongs to another image", device);
        }
        int rest = in.getInt(HEADER_BYTES - Integer.BYTES);
        if (rest < 0 || rest > layout.areaBytes() - HEADER_BYTES) {
            throw new CorruptIndexException("invalid length of the file table: " + rest + " bytes",
                    device);
        }
        return HEADER_BYTES + rest;
    }

    /**
     * Reads a table; none of its lengths is trusted before it has been checked.
     *
     * @param bytes whole units, of which {@code length} bytes are the table
     * @param free loses the units that the files have
     */
    static FileTable decode(byte[] bytes, int length, FreeSpace free, String device)
            throws CorruptIndexException {
        ByteBuffer in = ByteBuffer.wrap(bytes, 0, length);
        if (in.getInt(CRC_AT) != crc(bytes, length)) {
            throw new CorruptIndexException("the checksum of the file table does not match",
                    device);
        }
        try {
            in.position(32);
            long generation = in.getLong();
            long nextId = in.getLong();
            int count = in.getInt();
            in.getInt();
            if (generation < 1 || count < 0 || count > in.remaining() / FILE_BYTES) {
                throw new CorruptIndexException(
                        "invalid file table: " + count + " files, generation "
                                + generation,
                        device);
            }
            var files = new ArrayList<Entry>(count);
            var names = new HashSet<String>();
            var ids = new HashSet<Long>();
            for (int i = 0; i < count; i++) {
                Entry file = decodeFile(in, free, device);
                if (!names.add(file.name()) || !ids.add(file.id()) || file.id() < 0
                        || file.id() >= nextId) {
                    throw new CorruptIndexException("duplicate file " + file.name() + " or id "
                            + file.id() + " of " + nextId, device);
                }
                files.add(file);
            }
            if (in.hasRemaining()) {
                throw new CorruptIndexException(in.remaining() + " bytes after the last file",
                        device);
            }
            return new FileTable(generation, nextId, files);
        } catch (BufferUnderflowException e) {
            throw new CorruptIndexException("the file table is truncated", device, e);
        }
    }

    private static Entry decodeFile(ByteBuffer in, FreeSpace free, String device)
            throws CorruptIndexException {
        int nameBytes = Short.toUnsignedInt(in.getShort());
        if (nameBytes == 0 || nameBytes > MAX_NAME_BYTES || nameBytes > in.remaining()) {
            throw new CorruptIndexException("invalid name length: " + nameBytes + " bytes", device);
        }
        String name;
        try {
            name = StandardCharsets.UTF_8.newDecoder().decode(in.slice(in.position(), nameBytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new CorruptIndexException("a name is not UTF-8", device, e);
        }
        in.position(in.position() + nameBytes);
        long id = in.getLong();
        long length = in.getLong();
        int runCount = in.getInt();
        if (length < 0 || runCount < 0 || runCount > in.remaining() / RUN_BYTES) {
            throw new CorruptIndexException(name + ": " + length + " bytes in " + runCount
                    + " runs", device);
        }
        var runs = new ArrayList<UnitRun>(runCount);
        long units = 0;
        for (int i = 0; i < runCount; i++) {
            long first = in.getLong();
            long count = in.getLong();
            if (first < 0 || count < 1 || first > Layout.MAX_UNITS || count > Layout.MAX_UNITS
                    || !free.reserve(new UnitRun(first, count))) {
                throw new CorruptIndexException(name + ": run of " + count + " units at " + first
                        + " is outside the data area, or belongs to another file", device);
            }
            runs.add(new UnitRun(first, count));
            units += count;
        }
        if (units != Math.ceilDiv(length, (long) Layout.UNIT_BYTES)) {
            throw new CorruptIndexException(name + ": " + length + " bytes in " + units + " units",
                    device);
        }
        return new Entry(name, id, length, runs);
    }
}
