package lunar.osd.s3.bucket;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The data of a multipart upload: the user objects of its parts, in their order. It is stored as the data of a user
 * object, 16 bytes per part: identifier and length, most significant byte first. Parts become the object without being
 * copied.
 *
 * @param parts the parts that have data
 */
record Manifest(List<Segment> parts) {
    /** A user object with some of the data. */
    record Segment(long data, long length) {}

    private static final int ENTRY = 16;
    private static final int MAX_PARTS = 10_000;

    Manifest {
        parts = List.copyOf(parts);
    }

    byte[] encode() {
        var bytes = ByteBuffer.allocate(parts.size() * ENTRY);
        parts.forEach(part -> bytes.putLong(part.data()).putLong(part.length()));
        return bytes.array();
    }

    static Manifest read(InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(MAX_PARTS * ENTRY + 1);
        if (bytes.length % ENTRY != 0) {
            throw new IOException("a list of parts is damaged: it has " + bytes.length + " bytes");
        }
        var parts = new ArrayList<Segment>();
        for (var buffer = ByteBuffer.wrap(bytes); buffer.hasRemaining();) {
            parts.add(new Segment(buffer.getLong(), buffer.getLong()));
        }
        return new Manifest(parts);
    }
}
