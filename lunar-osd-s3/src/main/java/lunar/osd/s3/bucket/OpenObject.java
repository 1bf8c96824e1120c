package lunar.osd.s3.bucket;

import java.io.IOException;
import java.io.InputStream;

/** An object that stays as it is until it is closed, even if its key gets another one. For one thread. */
public final class OpenObject implements AutoCloseable {
    private final DataObjects data;
    private final ObjectRecord record;
    private boolean closed;

    OpenObject(DataObjects data, ObjectRecord record) {
        this.data = data;
        this.record = record;
    }

    /** Returns what it is. */
    public ObjectRecord record() { return record; }

    /** Opens a stream of a range, to be closed before the object. */
    public InputStream read(long offset, long length) throws IOException {
        return data.open(record, offset, length);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            data.release(record);
        }
    }
}
