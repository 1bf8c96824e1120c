package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.Bounces;
import lunar.rdma.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** The buffers of an initiator's command, as they are exposed to the target. Thread-safe. */
final class ExposedCommand {
    /** A registered buffer that the target can access. */
    static final class Exposure {
        private final MemoryRegion region;
        private final long offset;
        /** The region if it was registered for this command alone; otherwise null. */
        private final @Nullable MemoryRegion temporary;
        /** Bounce buffer in place of the command's buffer; null if there is none. */
        private final Bounces.@Nullable Bounce bounce;

        private Exposure(MemoryRegion region, long offset, @Nullable MemoryRegion temporary,
                Bounces.@Nullable Bounce bounce) {
            this.region = region;
            this.offset = offset;
            this.temporary = temporary;
            this.bounce = bounce;
        }

        /** Exposes memory that is part of a registered pool. */
        static Exposure pooled(MemoryRegion pool, long offset) {
            return new Exposure(pool, offset, null, null);
        }

        /** Exposes memory that was registered for this command. */
        static Exposure registered(MemoryRegion region) {
            return new Exposure(region, 0, region, null);
        }

        /** Exposes a bounce buffer in place of the command's buffer. */
        static Exposure bounced(Bounces.Bounce bounce) {
            return new Exposure(bounce.region(), 0, null, bounce);
        }

        int stag() { return region.remoteKey(); }

        /** Returns the remote address of an offset in the buffer. */
        long address(long at) {
            return region.remoteAddress() + offset + at;
        }

        /** Returns the bounce buffer; NULL if the target accesses the command's buffer itself. */
        MemorySegment standIn() {
            return bounce == null ? MemorySegment.NULL : bounce.memory();
        }

        /**
         * Ends the access of the target.
         *
         * @param answered whether the target has responded to the command, and so no longer accesses the buffer
         */
        void end(Bounces bounces, boolean answered) {
            if (temporary != null) {
                temporary.close();
            } else if (bounce != null) {
                if (answered) {
                    bounces.give(bounce);
                } else {
                    bounces.abandon(bounce);
                }
            }
        }
    }

    private final MemorySegment dataIn;
    private final boolean isBidirectional;
    private final Release release;
    private final AtomicBoolean ended = new AtomicBoolean();
    final @Nullable Exposure forDataIn;
    final @Nullable Exposure forDataOut;

    ExposedCommand(MemorySegment dataIn, boolean isBidirectional, @Nullable Exposure forDataIn,
            @Nullable Exposure forDataOut, Release release) {
        this.dataIn = dataIn;
        this.isBidirectional = isBidirectional;
        this.forDataIn = forDataIn;
        this.forDataOut = forDataOut;
        this.release = release;
    }

    /** Copies the data that the target has placed from the bounce buffer, if there is one. */
    void takeDataIn(int placedBytes) {
        if (forDataIn != null) {
            MemorySegment from = forDataIn.standIn();
            if (!from.equals(MemorySegment.NULL)) {
                MemorySegment.copy(from, 0, dataIn, 0, placedBytes);
            }
        }
    }

    long dataInBytes() { return dataIn.byteSize(); }

    boolean isBidirectional() { return isBidirectional; }

    /** Ends the access of the target and releases the buffers. Idempotent. */
    void end(Bounces bounces, boolean answered) {
        if (ended.compareAndSet(false, true)) {
            if (forDataIn != null) {
                forDataIn.end(bounces, answered);
            }
            if (forDataOut != null) {
                forDataOut.end(bounces, answered);
            }
            release.release();
        }
    }
}
