package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.MessageBuffer;
import lunar.rdma.Completion;
import lunar.rdma.MemoryRegion;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import org.jspecify.annotations.Nullable;

/** An operation of a {@link SendQueue}: waiting there, or posted. Guarded by the queue, until it is finished. */
abstract sealed class SendEntry implements Completed {
    final SendQueue queue;
    /** Bytes that count as queued while it waits. */
    final long bytes;
    /** Its success is reported only with that of a later one. */
    boolean isSilent;
    boolean isDone;

    SendEntry(SendQueue queue, long bytes) {
        this.queue = queue;
        this.bytes = bytes;
    }

    @Override
    public final void completed(Completion how) { queue.completed(this, how); }

    /** Describes the operation. */
    abstract void describe(WorkRequest request) throws RdmaException;

    /** Whether it may be left unreported. */
    boolean maySilence() { return false; }

    /** Gives up what it has, without any lock held; the device is done with it. */
    abstract void finish(boolean success);

    /** A message, encoded already. */
    static final class Message extends SendEntry {
        private final int length;
        /** Where it is; null as long as it is in {@link #heap}. */
        private @Nullable MessageBuffer buffer;
        private MemorySegment heap = MemorySegment.NULL;

        /** An RDMA Read of this command must have ended before it is sent; null for none. */
        @Nullable
        RemoteCommand after;
        /** All RDMA Reads must have ended before it is sent. */
        boolean isAfterAllReads;
        /** Key of the peer to invalidate with it; 0 for none. */
        int invalidated;
        /** How it counts for {@link UnexpectedPdus}. */
        boolean isUnexpected;
        int opcode;
        int tag;
        int statSn;

        /**
         * @param length of the message
         * @param buffer to encode it in; null to encode it on the heap until there is one
         */
        Message(SendQueue queue, int length, @Nullable MessageBuffer buffer, long bytes) {
            super(queue, bytes);
            this.length = length;
            this.buffer = buffer;
            if (buffer == null) {
                heap = MemorySegment.ofArray(new byte[length]);
            }
        }

        /** Where the message is to be encoded. */
        MemorySegment content() {
            MessageBuffer known = buffer;
            return known == null ? heap : known.bytes().asSlice(0, length);
        }

        @Override
        void describe(WorkRequest request) throws RdmaException {
            MessageBuffer known = buffer;
            if (known == null) {
                known = queue.memory().takeFor(length);
                known.bytes().asSlice(0, length).copyFrom(heap);
                heap = MemorySegment.NULL;
                buffer = known;
            }
            if (invalidated == 0) {
                request.send();
            } else {
                request.sendAndInvalidate(invalidated);
            }
            request.add(known.region(), known.offset(), length);
        }

        @Override
        void finish(boolean success) {
            MessageBuffer known = buffer;
            buffer = null;
            if (known != null) {
                known.giveBack();
            }
        }
    }

    /** A part of data-in: an RDMA Write. */
    static final class Write extends SendEntry {
        private final LocalData data;
        private final long offset;
        private final int length;
        private final long address;
        private final int stag;

        /**
         * @param data released once for each operation
         * @param offset in {@code data}
         */
        Write(SendQueue queue, LocalData data, long offset, int length, long address, int stag) {
            super(queue, length);
            this.data = data;
            this.offset = offset;
            this.length = length;
            this.address = address;
            this.stag = stag;
        }

        @Override
        boolean maySilence() { return true; }

        @Override
        void describe(WorkRequest request) {
            request.write(address, stag).add(data.region(), data.offset() + offset, length);
        }

        @Override
        void finish(boolean success) { data.release(); }
    }

    /** A part of data-out: an RDMA Read. */
    static final class Read extends SendEntry {
        private final LocalData data;
        private final long offset;
        private final int length;
        private final long address;
        private final int stag;
        final RemoteCommand command;
        private final SendQueue.Fetched then;

        /**
         * @param then called with whether all parts have been read, after the release
         */
        Read(SendQueue queue, LocalData data, long offset, int length, long address, int stag,
                RemoteCommand command, SendQueue.Fetched then) {
            super(queue, 0);
            this.data = data;
            this.offset = offset;
            this.length = length;
            this.address = address;
            this.stag = stag;
            this.command = command;
            this.then = then;
        }

        @Override
        void describe(WorkRequest request) {
            request.read(address, stag).add(data.region(), data.offset() + offset, length);
        }

        @Override
        void finish(boolean success) {
            if (!success) {
                data.fail();
            }
            if (data.release()) {
                then.fetched(!data.hasFailed());
            }
        }
    }

    /**
     * Registered memory of this end that one or several operations use; released after the last of them.
     */
    static final class LocalData {
        private final MemoryRegion region;
        private final long offset;
        private final Release release;
        /** Registered for these operations alone; null for memory that stays registered. */
        private final @Nullable MemoryRegion temporary;
        /** A message buffer that has a copy of the data; null for none. */
        private final @Nullable MessageBuffer copy;
        private int uses;
        private boolean failed;

        LocalData(MemoryRegion region, long offset, @Nullable MemoryRegion temporary,
                @Nullable MessageBuffer copy, Release release, int uses) {
            this.region = region;
            this.offset = offset;
            this.temporary = temporary;
            this.copy = copy;
            this.release = release;
            this.uses = uses;
        }

        MemoryRegion region() { return region; }

        long offset() { return offset; }

        synchronized void fail() { failed = true; }

        synchronized boolean hasFailed() { return failed; }

        /** Ends the use by an operation; returns whether it was the last, and the memory is released. */
        boolean release() {
            synchronized (this) {
                if (--uses > 0) {
                    return false;
                }
            }
            if (temporary != null) {
                temporary.close();
            }
            if (copy != null) {
                copy.giveBack();
            }
            release.release();
            return true;
        }
    }
}
