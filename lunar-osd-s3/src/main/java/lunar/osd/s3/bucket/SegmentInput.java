package lunar.osd.s3.bucket;

import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.ObjectId;

/** Reads ranges of several user objects one after the other. For one thread. */
final class SegmentInput extends InputStream {
    /** A range of the data of a user object. */
    record Range(ObjectId object, long offset, long length) {}

    private final ObjectBackend backend;
    private final Iterator<Range> ranges;
    private InputStream current = InputStream.nullInputStream();
    private long left;

    SegmentInput(ObjectBackend backend, List<Range> ranges) {
        this.backend = backend;
        this.ranges = ranges.iterator();
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (left == 0) {
            if (!ranges.hasNext()) {
                return -1;
            }
            Range next = ranges.next();
            current.close();
            current = backend.read(next.object(), next.offset(), next.length());
            left = next.length();
        }
        int count = current.read(into, at, (int) Math.min(length, left));
        if (count < 0) {
            throw new IOException("a part of an object is " + left + " bytes shorter than it was");
        }
        left -= count;
        return count;
    }

    @Override
    public void close() throws IOException { current.close(); }
}
