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
 * The receives of a connection: each has a buffer, and is posted again once its message was delivered. So a connection
 * that is not read from stops its peer. Posting is guarded by this; completions are handled by the home loop.
 */
final class Receives {
    /** Receives until the login has agreed on how many are needed. */
    static final int FOR_LOGIN = 8;

    /** Takes the messages of a connection. */
    interface User {
        /** A message has come; on the home loop. */
        void arrived(Arrival message);

        /** A receive has ended without one; on the home loop. */
        void ended();

        /** Takes a message apart and delivers it. */
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

    /** Posts more, until there are as many as wanted, or as the endpoint takes. */
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

    /** Gives back the buffers that the device has, after the endpoint was closed. */
    synchronized void drop() {
        isOver = true;
        endpoint = null;
        slots.stream().filter(slot -> !slot.hasArrived).forEach(Slot::giveBack);
    }

    /** A receive and its message. */
    private final class Slot implements Completed, Arrival {
        /** Null once it was given back. */
        private @Nullable MessageBuffer buffer;
        private int length;
        /** A message is in it that was not delivered yet. */
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
                failed.accept(new IOException("a receive failed: " + how));
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
