package lunar.osd.s3.bucket;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import lunar.block.LostWritesException;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import org.jspecify.annotations.Nullable;

/**
 * Writes data that no key has yet. Closing it discards the data, unless {@link #finish} was called and then {@link
 * #keep}. For one thread.
 */
public final class DataWriter extends OutputStream {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");

    private final ObjectBackend backend;
    private final ObjectId object;
    private final DataOwner owner;
    private final boolean flushes;
    private @Nullable OutputStream out;
    private @Nullable UnstableChange change;
    private long length;
    private boolean finished;
    private boolean kept;

    DataWriter(ObjectBackend backend, ObjectId object, DataOwner owner, boolean flushes) {
        this.backend = backend;
        this.object = object;
        this.owner = owner;
        this.flushes = flushes;
    }

    @Override
    public void write(int value) throws IOException { write(new byte[]{(byte) value}, 0, 1); }

    @Override
    public void write(byte[] from, int at, int count) throws IOException {
        if (count == 0) {
            return;
        }
        OutputStream to = out;
        if (to == null) {
            change = UnstableChange.begin(backend, flushes);
            to = backend.write(object, List.of(new Attribute(Layout.OWNER, owner.encode())));
            out = to;
        }
        try {
            to.write(from, at, count);
        } catch (ObjectBackend.ExistsException e) {
            kept = true; // the object there is another one's
            throw e;
        }
        length += count;
    }

    /**
     * Makes the data stable. Nothing can be written afterwards.
     *
     * @throws LostWritesException if the device may have lost some of them
     */
    void finish() throws IOException {
        OutputStream to = out;
        UnstableChange unstable = change;
        if (to != null && unstable != null) {
            try {
                to.close();
            } catch (ObjectBackend.ExistsException e) {
                kept = true; // the object there is another one's
                throw e;
            }
            finished = true;
            if (!unstable.flush(object)) {
                throw new IOException("data " + object + " have been removed by others");
            }
        }
    }

    /** Leaves the data to whatever refers to them, or may do so. */
    void keep() { kept = true; }

    /** Returns the user object; 0 if there are no data. */
    long data() {
        return length == 0 ? 0 : object.object();
    }

    /** Returns the number of bytes. */
    public long length() { return length; }

    @Override
    public void close() {
        OutputStream to = out;
        if (to == null || kept) {
            return;
        }
        kept = true;
        try {
            if (!finished) {
                to.close();
            }
        } catch (ObjectBackend.ExistsException e) {
            LOG.log(System.Logger.Level.WARNING, "data " + object + " are another one's", e);
            return;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "data are discarded after a failure", e);
        }
        try {
            backend.remove(object);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "data " + object
                    + " could not be discarded; they are removed after a restart", e);
        }
    }
}
