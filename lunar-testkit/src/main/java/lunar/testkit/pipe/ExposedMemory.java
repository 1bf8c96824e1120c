package lunar.testkit.pipe;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.spi.Transport.Release;

/** Buffers of commands that the peer may access, by initiator task tag. Thread-safe. */
final class ExposedMemory {
    private record Buffers(MemorySegment dataIn, MemorySegment dataOut, Release release) {}

    /** Releases the buffers of a command when both the peer and the PDU need them no more. */
    private static final class Both implements Release {
        private final AtomicInteger left = new AtomicInteger(2);
        private final Release release;

        Both(Release release) { this.release = release; }

        @Override
        public void release() {
            if (left.decrementAndGet() == 0) {
                release.release();
            }
        }
    }

    private final Map<Integer, Buffers> byTag = new HashMap<>();

    /** Exposes the buffers of a command; returns the release of its PDU, which may have a part of them. */
    synchronized Release expose(int itt, MemorySegment dataIn, MemorySegment dataOut,
            Release release) {
        var both = new Both(release);
        if (byTag.put(itt, new Buffers(dataIn, dataOut, both)) != null) {
            throw new IllegalStateException("two commands with one tag");
        }
        return both;
    }

    synchronized void write(int itt, int offset, MemorySegment data) throws IOException {
        at(itt).dataIn.asSlice(offset, data.byteSize()).copyFrom(data);
    }

    synchronized void read(int itt, int offset, MemorySegment into) throws IOException {
        into.copyFrom(at(itt).dataOut.asSlice(offset, into.byteSize()));
    }

    private Buffers at(int itt) throws IOException {
        Buffers buffers = byTag.get(itt);
        if (buffers == null) {
            throw new IOException("access to memory of task " + Integer.toHexString(itt)
                    + "h, which has been withdrawn");
        }
        return buffers;
    }

    /** Withdraws the buffers of a command, if they are exposed, and releases them. */
    void withdraw(int itt) {
        Buffers withdrawn;
        synchronized (this) {
            withdrawn = byTag.remove(itt);
        }
        if (withdrawn != null) {
            withdrawn.release.release();
        }
    }

    /** Withdraws and releases all buffers. */
    void withdrawAll() {
        List<Integer> tags;
        synchronized (this) {
            tags = List.copyOf(byTag.keySet());
        }
        tags.forEach(this::withdraw);
    }
}
