package lunar.osd.s3.backend;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import lunar.osd.client.ObjectExistsException;
import lunar.osd.client.Partition;
import lunar.osd.client.QuotaExceededException;
import lunar.osd.client.RequestOptions;
import org.jspecify.annotations.Nullable;

/**
 * Creates an object by one command with its attributes and its first data, which are all for a small object; what
 * follows is written with several commands in flight. For one thread.
 */
final class NewObjectOutput extends OutputStream {
    private static final int FIRST_BYTES = 8 << 10;

    private final Partition partition;
    private final long object;
    private final RequestOptions options;
    private final int maxBytes;
    private byte[] first = new byte[FIRST_BYTES];
    private int length;
    private @Nullable OutputStream rest;
    private boolean closed;

    /** @param maxBytes most data of one command */
    NewObjectOutput(Partition partition, long object, RequestOptions options, int maxBytes) {
        this.partition = partition;
        this.object = object;
        this.options = options;
        this.maxBytes = maxBytes;
    }

    @Override
    public void write(int value) throws IOException { write(new byte[]{(byte) value}, 0, 1); }

    @Override
    public void write(byte[] from, int at, int count) throws IOException {
        int taken = 0;
        if (rest == null) {
            taken = Math.min(count, maxBytes - length);
            buffer(from, at, taken);
        }
        if (taken < count) {
            OutputStream out = rest;
            if (out == null) {
                create();
                out = partition.object(object).openOutput(length);
                rest = out;
                first = new byte[0];
            }
            try {
                out.write(from, at + taken, count - taken);
            } catch (QuotaExceededException e) {
                throw quota(e);
            }
        }
    }

    private void buffer(byte[] from, int at, int count) {
        if (length + count > first.length) {
            first = Arrays.copyOf(first,
                    Math.clamp(2L * first.length, length + count, maxBytes));
        }
        System.arraycopy(from, at, first, length, count);
        length += count;
    }

    private void create() throws IOException {
        try {
            var _ = partition.createAndWrite(object,
                    MemorySegment.ofArray(first).asSlice(0, length), options);
        } catch (ObjectExistsException e) {
            throw new ObjectBackend.ExistsException("the identifier of new data is taken", e);
        } catch (QuotaExceededException e) {
            throw quota(e);
        }
    }

    private static IOException quota(QuotaExceededException e) {
        return new ObjectBackend.QuotaException("a quota of the device is exceeded", e);
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        OutputStream out = rest;
        try {
            if (out == null) {
                create();
            } else {
                out.close();
            }
        } catch (QuotaExceededException e) {
            throw quota(e);
        }
    }
}
