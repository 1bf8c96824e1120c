package lunar.lucene;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lunar.block.MediumException;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file sequentially: fills a buffer while earlier ones are being written to the device. A write error is
 * thrown by a later call, at the latest by {@link #close}. Not thread-safe.
 */
final class FileWriter extends OutputStream {
    /** Supplies the units, and is told when writes begin and end and when the file has ended. */
    interface Space {
        /** Throws where the directory has been closed: its space is no longer to be written to. */
        void requireOpen() throws IOException;

        /** A write begins, of which {@link #endWrite} tells the end; throws where the directory has been closed. */
        void beginWrite() throws IOException;

        /** A write has ended. Does not block. */
        void endWrite();

        /** Adds units to the file: at least one, at most so many. */
        UnitRun extend(StoredFile file, long units) throws IOException;

        /** The file has ended, well or not, and no write of it is in progress. */
        void ended(StoredFile file, boolean whole);
    }

    private static final int BUFFER_BYTES = 64 << 10;
    private static final int BUFFER_UNITS = BUFFER_BYTES / Layout.UNIT_BYTES;
    private static final int MAX_IN_FLIGHT = 4;
    private static final long MAX_EXTENSION_UNITS = (8 << 20) / Layout.UNIT_BYTES;

    private record Flight(MemorySegment buffer, CompletableFuture<Void> writes) {}

    private final Units units;
    private final Space space;
    private final StoredFile file;
    private final Queue<Flight> inFlight = new ArrayDeque<>();
    private @Nullable MemorySegment buffer;
    private int filled;
    private long written;
    /** Units that the file has got and nothing was written to yet, in order. */
    private final Queue<UnitRun> ahead = new ArrayDeque<>();
    private boolean closed;
    private @Nullable IOException failure;

    FileWriter(Units units, Space space, StoredFile file) {
        this.units = units;
        this.space = space;
        this.file = file;
    }

    @Override
    public void write(int b) throws IOException { write(new byte[]{(byte) b}, 0, 1); }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        requireWritable();
        int done = 0;
        while (done < length) {
            MemorySegment to = buffer();
            int count = Math.min(length - done, BUFFER_BYTES - filled);
            MemorySegment.copy(MemorySegment.ofArray(bytes), offset + done, to, filled, count);
            filled += count;
            done += count;
            written += count;
            file.length = written;
            if (filled == BUFFER_BYTES) {
                send();
            }
        }
    }

    private void requireWritable() throws IOException {
        if (failure != null) {
            throw new IOException("an earlier write of " + file.name + " failed", failure);
        }
        if (closed) {
            throw new IOException(file.name + " is closed");
        }
    }

    /** A buffer to fill: a new one, or one that the device has let go of. */
    private MemorySegment buffer() throws IOException {
        MemorySegment present = buffer;
        if (present != null) {
            return present;
        }
        MemorySegment next = inFlight.size() < MAX_IN_FLIGHT
                ? Arena.ofAuto().allocate(BUFFER_BYTES, Layout.UNIT_BYTES)
                : await();
        buffer = next;
        filled = 0;
        return next;
    }

    /** Waits for the oldest write. */
    private MemorySegment await() throws IOException {
        Flight oldest = inFlight.remove();
        try {
            oldest.writes().join();
        } catch (CompletionException e) {
            IOException cause = e.getCause() instanceof IOException io
                    ? io
                    : new MediumException(file.name + ": write failed", e);
            failure = cause;
            throw new IOException("write of " + file.name + " failed: " + cause.getMessage(),
                    cause);
        }
        return oldest.buffer();
    }

    /** Submits the buffer to the device. The last unit is padded with zeroes. */
    private void send() throws IOException {
        MemorySegment full = buffer;
        if (full == null || filled == 0) {
            return;
        }
        space.requireOpen();
        int bytes = Math.ceilDiv(filled, Layout.UNIT_BYTES) * Layout.UNIT_BYTES;
        full.asSlice(filled, bytes - filled).fill((byte) 0);
        List<CompletableFuture<Void>> writes = new ArrayList<>(1);
        buffer = null;
        try {
            for (int at = 0; at < bytes;) {
                UnitRun run = take((bytes - at) / Layout.UNIT_BYTES);
                long count = run.count() * Layout.UNIT_BYTES;
                space.beginWrite();
                writes.add(units.submitWrite(run.first(), full.asSlice(at, count))
                        .whenComplete((_, _) -> space.endWrite()));
                at += (int) count;
            }
        } catch (IOException e) {
            failure = e;
            throw e;
        } finally {
            inFlight.add(new Flight(full,
                    CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new))));
        }
    }

    /** Units to write to next, at most so many. Files get more at a time the longer they are. */
    private UnitRun take(long most) throws IOException {
        if (ahead.isEmpty()) {
            ahead.add(space.extend(file,
                    Math.clamp(file.unitCount(), BUFFER_UNITS, MAX_EXTENSION_UNITS)));
        }
        UnitRun next = ahead.remove();
        if (next.count() <= most) {
            return next;
        }
        ahead.add(new UnitRun(next.first() + most, next.count() - most));
        return new UnitRun(next.first(), most);
    }

    /** Does nothing: bytes go to the device in whole buffers. */
    @Override
    public void flush() {}

    /** Returns when all is written. The file is whole then, or broken. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        IOException before = failure; // was thrown then
        IOException first = before == null
                ? null
                : new IOException(file.name + " was not written completely", before);
        if (first == null) {
            try {
                send();
            } catch (IOException e) {
                first = e;
            }
        }
        while (!inFlight.isEmpty()) { // all of them: units must not be another file's while a write is in progress
            try {
                await();
            } catch (IOException e) {
                first = first == null ? e : first;
            }
        }
        buffer = null;
        space.ended(file, first == null);
        if (first != null) {
            throw first;
        }
    }
}
