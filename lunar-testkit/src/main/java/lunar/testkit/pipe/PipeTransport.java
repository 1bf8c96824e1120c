package lunar.testkit.pipe;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint of a connection within this process. A pipe that places data exposes the buffers of the initiator's commands
 * to the target: its Data-In are writes to them, its R2Ts are reads from them.
 *
 * <p>Messages are queued at the sending end until {@link #flush}, then in the inbox of the other end until its event
 * loop delivers them.
 */
final class PipeTransport implements Transport {
    private static final int FINAL = 0x80;

    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final boolean places;
    private final boolean isInitiator;
    private final ExposedMemory exposed = new ExposedMemory();
    private volatile PipeSource source;
    private @Nullable PipeTransport peer;

    private final Deque<Message> unflushed = new ArrayDeque<>(); // guarded by itself, before the inbox of the peer
    private final Deque<Message> inbox = new ArrayDeque<>(); // guarded by itself, inside copying
    /** Held while the memory of the sender of a message is used. */
    private final Object copying = new Object();
    /** Whether the connection has ended in both directions; set with neither lock held. */
    private volatile boolean over;
    private boolean closing; // guarded by unflushed

    // Event loop's thread only.
    private final Bhs bhs = new Bhs();
    private @Nullable PduReceiver receiver;
    private boolean stopped;
    /** ExpStatSN of the last PDU of the initiator. */
    private int expStatSn;

    PipeTransport(PipeSource source, InetSocketAddress local, InetSocketAddress remote,
            boolean places, boolean isInitiator) {
        this.source = source;
        this.local = local;
        this.remote = remote;
        this.places = places;
        this.isInitiator = isInitiator;
    }

    /** Sets the other end, before both begin. */
    void pairWith(PipeTransport other) {
        peer = other;
    }

    private PipeTransport peer() { return Objects.requireNonNull(peer); }

    /** Creates the receiver, on the loop's thread. */
    void begin(Function<Transport, PduReceiver> maker, CompletableFuture<Void> begun) {
        source.loop().execute(() -> {
            try {
                source.add(this);
                receiver = maker.apply(this);
                begun.complete(null);
                deliver();
            } catch (RuntimeException | Error e) {
                begun.completeExceptionally(e);
                abort();
            }
        });
    }

    // --- sending ---

    @Override
    public void send(MemorySegment header, MemorySegment data, Release release) {
        if (places && !isInitiator && opcode(header) == DataIn.OPCODE) {
            var dataIn = new Bhs().wrap(header);
            queue(new Message.Write(dataIn.itt(), dataIn.int32(DataIn.BUFFER_OFFSET), data,
                    release));
        } else {
            queue(new Message.Pdu(copy(header), data, release));
        }
    }

    @Override
    public boolean placesData() { return places; }

    @Override
    public void sendCommand(MemorySegment header, MemorySegment data, MemorySegment dataIn,
            MemorySegment dataOut, Release release) {
        if (!places) {
            send(header, data, release);
            return;
        }
        int itt = new Bhs().wrap(header).itt();
        synchronized (unflushed) {
            if (!over && !closing) {
                Release both = exposed.expose(itt, dataIn, dataOut, release);
                unflushed.add(new Message.Pdu(copy(header), data, both));
                return;
            }
        }
        release.release();
    }

    @Override
    public void withdraw(int itt) {
        try {
            loop().execute(() -> exposed.withdraw(itt));
        } catch (RejectedExecutionException _) {
            exposed.withdraw(itt);
        }
    }

    @Override
    public void fetch(MemorySegment r2t, MemorySegment into, Release release) {
        if (!places) {
            Transport.super.fetch(r2t, into, release);
        }
        var wanted = new Bhs().wrap(r2t);
        queue(new Message.Read(wanted.itt(), wanted.ttt(), wanted.int32(R2t.BUFFER_OFFSET), into,
                release));
    }

    private static int opcode(MemorySegment header) { return new Bhs().wrap(header).opcode(); }

    private static MemorySegment copy(MemorySegment header) {
        return MemorySegment.ofArray(header.toArray(ValueLayout.JAVA_BYTE));
    }

    private void queue(Message message) {
        synchronized (unflushed) {
            if (!over && !closing) {
                unflushed.add(message);
                return;
            }
        }
        message.drop();
    }

    @Override
    public void flush() {
        synchronized (unflushed) {
            if (unflushed.isEmpty()) {
                return;
            }
            peer().take(List.copyOf(unflushed)); // so that messages of two threads keep their order
            unflushed.clear();
        }
        peer().wake();
    }

    @Override
    public long queuedBytes() {
        long bytes;
        synchronized (unflushed) {
            bytes = unflushed.stream().mapToLong(Message::bytes).sum();
        }
        return bytes + peer().inboxBytes();
    }

    private long inboxBytes() {
        synchronized (inbox) {
            return inbox.stream().mapToLong(Message::bytes).sum();
        }
    }

    // --- receiving ---

    private void take(List<Message> messages) {
        synchronized (inbox) {
            if (!over) {
                inbox.addAll(messages);
                return;
            }
        }
        messages.forEach(Message::drop);
    }

    private void wake() { source.ready(this); }

    private @Nullable Message next() {
        synchronized (inbox) {
            return inbox.poll();
        }
    }

    /** Delivers received messages; runs on the loop's thread. */
    void deliver() {
        PipeSource mine = source;
        if (!mine.loop().inLoop()) {
            wake(); // it has been moved meanwhile
            return;
        }
        PduReceiver to = receiver;
        boolean any = false;
        try {
            while (to != null && !stopped && !over && mine.equals(source)) {
                Message message;
                MemorySegment place = MemorySegment.NULL;
                synchronized (copying) {
                    message = next();
                    if (message != null) {
                        place = copy(message, to);
                    }
                }
                if (message == null) {
                    break;
                }
                if (message instanceof Message.End(var cause)) {
                    end(cause);
                    return;
                }
                any = true;
                deliver(message, place, to);
                to = receiver;
            }
            if (any && to != null && !over && mine.equals(source)) {
                to.batchEnd();
            }
        } catch (IOException | RuntimeException | Error e) {
            abort(e instanceof IOException io ? io : new IOException(e));
        }
    }

    /**
     * Moves the data of a message, which is the end of its use of the sender's memory.
     *
     * @return where the data of a PDU are now
     */
    private MemorySegment copy(Message message, PduReceiver to) throws IOException {
        switch (message) {
            case Message.Pdu(var header, var data, var release) -> {
                try {
                    bhs.wrap(header);
                    if (places && isInitiator && bhs.opcode() == ScsiResponse.OPCODE) {
                        exposed.withdraw(bhs.itt());
                    }
                    if (!isInitiator) {
                        expStatSn = bhs.int32(InitiatorPdu.EXP_STAT_SN);
                    }
                    return copy(header.asSlice(Bhs.LENGTH), data, to);
                } finally {
                    release.release();
                }
            }
            case Message.Write(var itt, var offset, var data, var release) -> {
                try {
                    exposed.write(itt, offset, data);
                } finally {
                    release.release();
                }
            }
            case Message.Read read -> {
                try {
                    exposed.read(read.itt(), read.offset(), read.into());
                } catch (IOException | RuntimeException e) {
                    read.drop();
                    throw e;
                }
                peer().take(List.of(new Message.ReadDone(read)));
                peer().wake();
            }
            case Message.ReadDone _,Message.End _ -> {
            }
        }
        return MemorySegment.NULL;
    }

    private MemorySegment copy(MemorySegment ahs, MemorySegment data, PduReceiver to)
            throws IOException {
        int length = (int) data.byteSize();
        if (length == 0) {
            return MemorySegment.NULL;
        }
        MemorySegment place = to.dataDestination(bhs, ahs, length);
        if (place.equals(MemorySegment.NULL)) {
            place = MemorySegment.ofArray(new byte[length]);
        }
        return place.copyFrom(data);
    }

    private void deliver(Message message, MemorySegment place, PduReceiver to)
            throws IOException {
        switch (message) {
            case Message.Pdu pdu ->
                to.received(bhs.wrap(pdu.header()), pdu.header().asSlice(Bhs.LENGTH), place);
            case Message.ReadDone(var read) -> {
                read.release().release();
                MemorySegment header = MemorySegment.ofArray(new byte[Bhs.LENGTH]);
                bhs.wrap(header).start(DataOut.OPCODE, false, FINAL)
                        .lengths(0, (int) read.into().byteSize()).int32(Pdu.ITT, read.itt())
                        .int32(Pdu.TTT, read.ttt()).int32(InitiatorPdu.EXP_STAT_SN, expStatSn)
                        .int32(DataOut.BUFFER_OFFSET, read.offset());
                to.received(bhs, MemorySegment.NULL, read.into());
            }
            case Message.Write _,Message.Read _ -> {
            }
            case Message.End _ -> throw new AssertionError(message);
        }
    }

    @Override
    public void reading(boolean on) {
        stopped = !on;
        if (on) {
            wake();
        }
    }

    // --- its loop ---

    @Override
    public void framing(Framing framing) {}

    @Override
    public EventLoop loop() { return source.loop(); }

    @Override
    public void moveTo(EventLoop other, Runnable then) {
        PipeSource to = PipeSource.of(other);
        source.remove(this);
        to.add(this);
        source = to;
        other.execute(() -> {
            if (receiver != null) {
                then.run();
                deliver();
            }
        });
    }

    @Override
    public InetSocketAddress remote() { return remote; }

    @Override
    public InetSocketAddress local() { return local; }

    // --- the end ---

    @Override
    public void close() {
        synchronized (unflushed) {
            if (over || closing) {
                return;
            }
            unflushed.add(new Message.End(null));
            closing = true;
        }
        flush();
        endLater(null);
    }

    @Override
    public void abort() { abort(new IOException("the connection was aborted")); }

    private void abort(IOException why) {
        over = true;
        drain(unflushed).forEach(Message::drop);
        peer().reset();
        endLater(why);
    }

    /** Discards undelivered messages, because the other end was aborted. */
    private void reset() {
        List<Message> lost;
        synchronized (inbox) {
            lost = drain(inbox);
            if (!over) {
                inbox.add(new Message.End(new IOException("Connection reset")));
            }
        }
        lost.forEach(Message::drop);
        wake();
    }

    /** Waits for a copy that is under way, and makes what has not been delivered independent of the sender. */
    private void detachInbox() {
        synchronized (copying) {
            List<Message> detached = drain(inbox).stream().map(Message::detach)
                    .filter(Objects::nonNull).toList();
            synchronized (inbox) {
                detached.reversed().forEach(inbox::addFirst);
            }
        }
    }

    private static List<Message> drain(Deque<Message> queue) {
        synchronized (queue) {
            List<Message> all = List.copyOf(queue);
            queue.clear();
            return all;
        }
    }

    private void endLater(@Nullable IOException why) {
        try {
            loop().execute(() -> end(why));
        } catch (RejectedExecutionException _) {
            // the loop has ended, and with it this connection
        }
    }

    /** Ends this end with its loop. */
    void endWithLoop() {
        over = true;
        drain(unflushed).forEach(Message::drop);
        peer().take(List.of(new Message.End(null)));
        peer().wake();
        end(new IOException("the event loop has ended"));
    }

    /** Ends this end, once; on the loop's thread. The other end uses none of its memory from then on. */
    private void end(@Nullable IOException why) {
        over = true;
        drain(unflushed).forEach(Message::drop);
        synchronized (copying) { // the loop of their sender does not end before they have released its memory
            drain(inbox).forEach(Message::drop);
        }
        peer().detachInbox(); // it may deliver them after the memory of this end was freed
        exposed.withdrawAll();
        PduReceiver last = receiver;
        receiver = null;
        source.remove(this);
        if (last != null) {
            last.closed(why);
        }
    }
}
