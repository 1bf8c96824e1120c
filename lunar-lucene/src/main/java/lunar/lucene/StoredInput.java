package lunar.lucene;

import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.RandomAccessInput;

/**
 * Reads a file, or a slice of one, through the page cache. Reads ahead on sequential access. Clones and slices share
 * the open file, which only the opened input closes.
 */
final class StoredInput extends IndexInput implements RandomAccessInput {
    /** A file that is open for reading. */
    interface OpenFile {
        StoredFile file();

        PageCache cache();

        boolean isOpen();

        void close();
    }

    private static final VarHandle SHORT = view(short[].class);
    private static final VarHandle INT = view(int[].class);
    private static final VarHandle LONG = view(long[].class);
    private static final byte[] NOTHING = {};

    /** Pages that are read ahead: 256 KiB. */
    private static final int MAX_AHEAD = 16;

    /** Pages that one prefetch may ask for: 1 MiB. */
    private static final int MAX_PREFETCH = 64;

    private static VarHandle view(Class<?> array) {
        return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
    }

    private final OpenFile open;
    private final boolean owns;
    /** The slice, in bytes of the file. */
    private final long base;
    private final long end;

    /** The page under the position, of which bytes before {@link #limit} are in the slice. */
    private byte[] page = NOTHING;
    /** Where the page begins in the file. */
    private long pageStart;
    /** The position in the page. */
    private int at;
    private int limit;

    /** Pages read in a row, the page where reading ahead has come to, and how many to have ahead. */
    private long nextIndex = -1;
    private long aheadEnd;
    private int window;

    /** @param eager whether pages are likely to be read one after the other from the first on */
    StoredInput(String description, OpenFile open, long base, long length, boolean owns,
            boolean eager) {
        super(description);
        this.open = open;
        this.base = base;
        this.end = base + length;
        this.owns = owns;
        this.pageStart = base;
        if (eager) {
            nextIndex = base / PageCache.PAGE_BYTES;
            window = MAX_AHEAD;
        }
    }

    // --- pages ---

    /** Goes to the page with the position's byte. */
    private void turn() throws IOException {
        long position = pageStart + at;
        if (position >= end) {
            throw new EOFException("read past the end: " + this);
        }
        if (!open.isOpen()) {
            throw new AlreadyClosedException("closed: " + this);
        }
        long index = position / PageCache.PAGE_BYTES;
        readAhead(index);
        byte[] bytes = open.cache().read(open.file(), index);
        page = bytes;
        pageStart = index * PageCache.PAGE_BYTES;
        at = (int) (position - pageStart);
        limit = (int) Math.min(bytes.length, end - pageStart);
    }

    /** The longer pages follow each other, the more of them are asked for in advance. */
    private void readAhead(long index) {
        if (index != nextIndex) {
            window = 0;
            aheadEnd = index + 1;
        } else {
            window = Math.clamp(2L * window, 1, MAX_AHEAD);
            long from = Math.max(aheadEnd, index + 1);
            if (from - index <= window / 2) {
                long pages = Math.ceilDiv(end, (long) PageCache.PAGE_BYTES);
                aheadEnd = Math.min(index + 1 + window, pages);
                open.cache().prefetch(open.file(), from, aheadEnd);
            }
        }
        nextIndex = index + 1;
    }

    @Override
    public void prefetch(long offset, long length) throws IOException {
        if (offset < 0 || length < 0 || length > length() - offset) {
            throw new IllegalArgumentException("prefetch of " + length + " bytes at " + offset
                    + " of " + length() + ": " + this);
        }
        if (length > 0 && open.isOpen()) {
            long first = (base + offset) / PageCache.PAGE_BYTES;
            long last = (base + offset + length - 1) / PageCache.PAGE_BYTES;
            open.cache().prefetch(open.file(), first, Math.min(last + 1, first + MAX_PREFETCH));
        }
    }

    // --- position ---

    @Override
    public long getFilePointer() { return pageStart + at - base; }

    @Override
    public long length() { return end - base; }

    @Override
    public void seek(long position) throws IOException {
        if (position < 0) {
            throw new IllegalArgumentException("negative position: " + position + ": " + this);
        }
        if (position > length()) {
            throw new EOFException("position " + position + " of " + length() + ": " + this);
        }
        long inPage = base + position - pageStart;
        if (inPage >= 0 && inPage <= limit) {
            at = (int) inPage;
        } else {
            forget(base + position);
        }
    }

    private void forget(long position) {
        page = NOTHING;
        pageStart = position;
        at = 0;
        limit = 0;
    }

    // --- reading at the position ---

    @Override
    public byte readByte() throws IOException {
        if (at >= limit) {
            turn();
        }
        return page[at++];
    }

    @Override
    public short readShort() throws IOException {
        if (limit - at < Short.BYTES) {
            return super.readShort();
        }
        short value = (short) SHORT.get(page, at);
        at += Short.BYTES;
        return value;
    }

    @Override
    public int readInt() throws IOException {
        if (limit - at < Integer.BYTES) {
            return super.readInt();
        }
        int value = (int) INT.get(page, at);
        at += Integer.BYTES;
        return value;
    }

    @Override
    public long readLong() throws IOException {
        if (limit - at < Long.BYTES) {
            return super.readLong();
        }
        long value = (long) LONG.get(page, at);
        at += Long.BYTES;
        return value;
    }

    @Override
    public void readBytes(byte[] bytes, int offset, int length) throws IOException {
        if (length > end - pageStart - at) {
            throw new EOFException("read of " + length + " bytes past the end: " + this);
        }
        if (length > limit - at + PageCache.PAGE_BYTES) {
            prefetch(getFilePointer(), length);
        }
        int done = 0;
        while (done < length) {
            if (at >= limit) {
                turn();
            }
            int count = Math.min(length - done, limit - at);
            System.arraycopy(page, at, bytes, offset + done, count);
            at += count;
            done += count;
        }
    }

    @Override
    public void readInts(int[] values, int offset, int length) throws IOException {
        for (int done = 0; done < length;) {
            int count = Math.min(length - done, (limit - at) / Integer.BYTES);
            rest().asIntBuffer().get(values, offset + done, count);
            at += count * Integer.BYTES;
            done += count;
            if (done < length) {
                values[offset + done++] = readInt(); // lies over two pages, or on the next
            }
        }
    }

    @Override
    public void readLongs(long[] values, int offset, int length) throws IOException {
        for (int done = 0; done < length;) {
            int count = Math.min(length - done, (limit - at) / Long.BYTES);
            rest().asLongBuffer().get(values, offset + done, count);
            at += count * Long.BYTES;
            done += count;
            if (done < length) {
                values[offset + done++] = readLong();
            }
        }
    }

    @Override
    public void readFloats(float[] values, int offset, int length) throws IOException {
        for (int done = 0; done < length;) {
            int count = Math.min(length - done, (limit - at) / Float.BYTES);
            rest().asFloatBuffer().get(values, offset + done, count);
            at += count * Float.BYTES;
            done += count;
            if (done < length) {
                values[offset + done++] = Float.intBitsToFloat(readInt());
            }
        }
    }

    private ByteBuffer rest() {
        return ByteBuffer.wrap(page, at, limit - at).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    // --- reading elsewhere: moves the position ---

    /** Where bytes are in the present page, which it turns to if need be; -1 where they are not all in one. */
    private int inPage(long position, int bytes) throws IOException {
        long index = base + position - pageStart;
        if (position >= 0 && index >= 0 && index + bytes <= limit) {
            return (int) index;
        }
        seek(position);
        if (at >= limit) {
            turn();
        }
        return limit - at >= bytes ? at : -1;
    }

    @Override
    public byte readByte(long position) throws IOException {
        int index = inPage(position, Byte.BYTES); // turns the page
        return page[index];
    }

    @Override
    public short readShort(long position) throws IOException {
        int index = inPage(position, Short.BYTES);
        return index >= 0 ? (short) SHORT.get(page, index) : readShort();
    }

    @Override
    public int readInt(long position) throws IOException {
        int index = inPage(position, Integer.BYTES);
        return index >= 0 ? (int) INT.get(page, index) : readInt();
    }

    @Override
    public long readLong(long position) throws IOException {
        int index = inPage(position, Long.BYTES);
        return index >= 0 ? (long) LONG.get(page, index) : readLong();
    }

    @Override
    public void readBytes(long position, byte[] bytes, int offset, int length)
            throws IOException {
        seek(position);
        readBytes(bytes, offset, length);
    }

    // --- clones, slices, end ---

    @Override
    public StoredInput clone() { return slice(toString(), base, length(), getFilePointer()); }

    @Override
    public IndexInput slice(String description, long offset, long length) throws IOException {
        if (offset < 0 || length < 0 || length > length() - offset) {
            throw new IllegalArgumentException("slice " + description + " of " + length
                    + " bytes at " + offset + " of " + length() + ": " + this);
        }
        return slice(getFullSliceDescription(description), base + offset, length, 0);
    }

    /** Nothing is read before it is needed, so this cannot fail. */
    private StoredInput slice(String description, long from, long length, long position) {
        var slice = new StoredInput(description, open, from, length, false, false);
        slice.forget(from + position);
        return slice;
    }

    @Override
    public void close() {
        if (owns) {
            open.close();
        }
        forget(pageStart + at);
    }
}
