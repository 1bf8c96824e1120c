package lunar.testkit.pipe;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.iscsi.spi.Transport.Release;
import org.jspecify.annotations.Nullable;

/** Message from one end of a pipe to the other. */
sealed interface Message {
    /** Bytes that count as queued. */
    default long bytes() { return 0; }

    /** Gives up a message that is not delivered. */
    default void drop() {}

    /**
     * Releases the sender's memory, which is about to be freed.
     *
     * @return this message with a copy of its data; null where it makes no sense without that memory
     */
    default @Nullable Message detach() { return this; }

    private static MemorySegment copy(MemorySegment data) {
        return MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE));
    }

    /** A PDU; its data are read until they are released. */
    record Pdu(MemorySegment header, MemorySegment data, Release release) implements Message {
        @Override
        public long bytes() { return header.byteSize() + data.byteSize(); }

        @Override
        public void drop() { release.release(); }

        @Override
        public Message detach() {
            var copy = new Pdu(header, copy(data), Release.NOTHING);
            release.release();
            return copy;
        }
    }

    /** Data for the buffer of a command at the initiator: an RDMA Write. */
    record Write(int itt, int offset, MemorySegment data, Release release) implements Message {
        @Override
        public long bytes() { return data.byteSize(); }

        @Override
        public void drop() { release.release(); }

        @Override
        public Message detach() {
            var copy = new Write(itt, offset, copy(data), Release.NOTHING);
            release.release();
            return copy;
        }
    }

    /** A request for data of a command at the initiator: an RDMA Read. */
    record Read(int itt, int ttt, int offset, MemorySegment into, Release release)
            implements
            Message {
        @Override
        public void drop() { release.release(); }

        @Override
        public @Nullable Message detach() {
            drop();
            return null;
        }
    }

    /** The answer to a read, whose data are in place. */
    record ReadDone(Read read) implements Message {
        @Override
        public void drop() { read.release().release(); }
    }

    /** The end of the connection; the cause is null for one in order. */
    record End(@Nullable IOException cause) implements Message {}
}
