package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.Bounces;
import lunar.rdma.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** The buffers of a command of this end, as the target can access them. */
final class ExposedCommand {
    /** A buffer of the command, exposed to the target. */
    static final class Exposure {
        private final MemoryRegion region;
        private final long offset;
        /** Registered for this command alone; null if not. */
        private final @Nullable MemoryRegion temporary;
        /** Memory that stands in for the buffer; null if none does. */
        private final Bounces.@Nullable Bounce bounce;

        private Exposure(MemoryRegion region, long offset, @Nullable MemoryRegion temporary,
                Bounces.@Nullable Bounce bounce) {
            this.region = region;
            this.offset = offset;
            this.temporary = temporary;
            this.bounce = bounce;
        }

        /** Memory that is part of a registered pool. */
        static Exposure pooled(MemoryRegion pool, long offset) {
            return new Exposure(pool, offset, null, null);
        }

        /** Memory that was registered for this command. */
        static Exposure registered(MemoryRegion region) {
            return new Exposure(region, 0, region, null);
        }

        /** Memory that stands in for a buffer. */
        static Exposure bounced(Bounces.Bounce bounce) {
            return new Exposure(bounce.region(), 0, null, bounce);
        }

        int stag() { return region.remoteKey(); }

        /** Address, as the target names it, of an offset in the buffer. */
        long address(long at) {
            return region.remoteAddress() + offset + at;
        }

        /** Returns what the target has written; NULL where that is in the buffer itself. */
        MemorySegment standIn() {
            return bounce == null ? MemorySegment.NULL : bounce.memory();
        }

        /**
         * Ends the access of the target.
         *
         * @param answered whether the target has said that it needs no access any more
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

    /** Copies what the target has placed into the buffer, if that is somewhere else. */
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

    /** Ends the access of the target and releases the buffers; once. */
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
