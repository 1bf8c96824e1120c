package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.MessageBuffer;
import lunar.rdma.Completion;
import lunar.rdma.MemoryRegion;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import org.jspecify.annotations.Nullable;

/** An operation of a {@link SendQueue}, waiting or posted. Guarded by the queue until it is finished. */
abstract sealed class SendEntry implements Completed {
    final SendQueue queue;
    /** Number of bytes that count as queued while it waits. */
    final long bytes;
    /** Whether it is unsignalled: its success is implied by that of a later operation. */
    boolean isSilent;
    boolean isDone;

    SendEntry(SendQueue queue, long bytes) {
        this.queue = queue;
        this.bytes = bytes;
    }

    @Override
    public final void completed(Completion how) { queue.completed(this, how); }

    /** Fills in the work request of the operation. */
    abstract void describe(WorkRequest request) throws RdmaException;

    /** Whether it may be unsignalled. */
    boolean maySilence() { return false; }

    /**
     * Releases the memory of the operation, which the device no longer accesses. Called without a lock held.
     *
     * @param success whether the operation has been performed
     */
    abstract void finish(boolean success);

    /** A message to send, which its creator encodes. */
    static final class Message extends SendEntry {
        private final int length;
        /** Buffer with the message; null while it is in {@link #heap}. */
        private @Nullable MessageBuffer buffer;
        private MemorySegment heap = MemorySegment.NULL;

        /** All RDMA Reads of this command must have ended before the message is sent; null for none. */
        @Nullable
        RemoteCommand after;
        /** Whether all RDMA Reads must have ended before the message is sent. */
        boolean isAfterAllReads;
        /** STag of the peer that the message invalidates; 0 for none. */
        int invalidated;
        /** Whether it counts for {@link UnexpectedPdus}, and with which opcode, tag and StatSN. */
        boolean isUnexpected;
        int opcode;
        int tag;
        int statSn;

        /**
         * @param length length of the message in bytes
         * @param buffer buffer to encode the message in; null to encode it on the heap until it is posted
         * @param bytes number of bytes that count as queued
         */
        Message(SendQueue queue, int length, @Nullable MessageBuffer buffer, long bytes) {
            super(queue, bytes);
            this.length = length;
            this.buffer = buffer;
            if (buffer == null) {
                heap = MemorySegment.ofArray(new byte[length]);
            }
        }

        /** Returns the memory to encode the message in. */
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

    /** An RDMA Write of a part of data-in. */
    static final class Write extends SendEntry {
        private final LocalData data;
        private final long offset;
        private final int length;
        private final long address;
        private final int stag;

        /**
         * @param data local data, whose use by this operation ends with it
         * @param offset offset of the part in {@code data}
         * @param address remote address
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

    /** An RDMA Read of a part of data-out. */
    static final class Read extends SendEntry {
        private final LocalData data;
        private final long offset;
        private final int length;
        private final long address;
        private final int stag;
        final RemoteCommand command;
        private final SendQueue.Fetched then;

        /**
         * @param then called after the last part, once the data have been released
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

    /** Registered memory of this end that one or more operations use; released after the last one. Thread-safe. */
    static final class LocalData {
        private final MemoryRegion region;
        private final long offset;
        private final Release release;
        /** The region if it was registered for these operations alone; null if it remains registered. */
        private final @Nullable MemoryRegion temporary;
        /** Message buffer with a copy of the data; null for none. */
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

        /** Ends the use by an operation; returns whether it was the last one, after which the memory is released. */
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
