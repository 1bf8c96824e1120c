package lunar.iser.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lunar.iscsi.framing.PduReceiver;
import lunar.iser.memory.DeviceMemory;
import lunar.iser.memory.MessageBuffer;
import lunar.rdma.Completion;
import lunar.rdma.CompletionStatus;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointStateException;
import lunar.rdma.RdmaException;
import lunar.rdma.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Posts the receives of a connection. Each has a buffer, and is posted again once its message has been delivered, so
 * that a connection that is not read from stops its peer. Posting is guarded by this; the home loop handles
 * completions.
 */
final class Receives {
    /** Number of receives until the login has determined how many are needed. */
    static final int FOR_LOGIN = 8;

    /** Handles the messages of a connection. */
    interface User {
        /** A message has arrived; on the home loop. */
        void arrived(Arrival message);

        /** A receive has completed without a message; on the home loop. */
        void ended();

        /** Decodes a message and delivers its PDU; on the owner's thread. */
        void deliver(MemorySegment message, PduReceiver to) throws IOException;
    }

    private final DeviceMemory memory;
    private final User user;
    private final Consumer<IOException> failed;
    private final List<Slot> slots = new ArrayList<>();
    private final WorkRequest request = new WorkRequest();
    private @Nullable Endpoint endpoint;
    private boolean isOver;

    /**
     * @param failed called by any thread when a receive cannot be posted, or has failed
     */
    Receives(DeviceMemory memory, User user, Consumer<IOException> failed) {
        this.memory = memory;
        this.user = user;
        this.failed = failed;
    }

    /** Posts the receives for the login. */
    synchronized void open(Endpoint made) throws RdmaException {
        endpoint = made;
        grow(FOR_LOGIN);
    }

    /** Posts more receives, up to the wanted number or the endpoint's receive depth. */
    synchronized void grow(int wanted) throws RdmaException {
        Endpoint to = endpoint;
        if (to == null || isOver) {
            return;
        }
        int most = Math.min(wanted, to.options().receiveDepth());
        while (slots.size() < most) {
            var slot = new Slot(memory.longMessages().take());
            slots.add(slot);
            post(slot, to);
        }
    }

    private void post(Slot slot, Endpoint to) throws RdmaException {
        MessageBuffer buffer = slot.buffer;
        if (buffer != null) {
            to.post(request.receive().add(buffer.region(), buffer.offset(),
                    buffer.bytes().byteSize()).attachment(slot));
        }
    }

    private void postAgain(Slot slot) {
        RdmaException why = null;
        synchronized (this) {
            Endpoint to = endpoint;
            if (to != null && !isOver) {
                try {
                    post(slot, to);
                    return;
                } catch (EndpointStateException _) {
                    // the connection has ended
                } catch (RdmaException e) {
                    why = e;
                }
            }
            slot.giveBack();
        }
        if (why != null) {
            failed.accept(why);
        }
    }

    /** Gives back the buffers that wait for a message, after the endpoint has been closed. */
    synchronized void drop() {
        isOver = true;
        endpoint = null;
        slots.stream().filter(slot -> !slot.hasArrived).forEach(Slot::giveBack);
    }

    /** A receive with its buffer, and the message that it has received. */
    private final class Slot implements Completed, Arrival {
        /** Null once the buffer has been given back. */
        private @Nullable MessageBuffer buffer;
        private int length;
        /** Whether it has a message that has not been delivered yet. */
        private boolean hasArrived;

        Slot(MessageBuffer buffer) { this.buffer = buffer; }

        @Override
        public void completed(Completion how) {
            if (how.isSuccess()) {
                synchronized (Receives.this) {
                    length = how.bytes();
                    hasArrived = true;
                }
                user.arrived(this);
                return;
            }
            synchronized (Receives.this) {
                giveBack();
            }
            if (how.status() != CompletionStatus.FLUSHED) {
                failed.accept(new IOException("RDMA receive failed: " + how));
            }
            user.ended();
        }

        @Override
        public void deliver(PduReceiver to) throws IOException {
            try {
                MessageBuffer known = buffer;
                if (known != null) {
                    user.deliver(known.bytes().asSlice(0, length), to);
                }
            } finally {
                over();
            }
        }

        private void over() {
            synchronized (Receives.this) {
                hasArrived = false;
            }
            postAgain(this);
        }

        @Override
        public void drop() {
            synchronized (Receives.this) {
                hasArrived = false;
                giveBack();
            }
        }

        private void giveBack() {
            MessageBuffer known = buffer;
            buffer = null;
            if (known != null) {
                known.giveBack();
            }
        }
    }
}
