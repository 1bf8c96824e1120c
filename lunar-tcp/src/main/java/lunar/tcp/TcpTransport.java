package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import lunar.iscsi.IscsiException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReader;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import lunar.loop.EventSourceLoop;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection, plain or with a {@link TlsLayer}. Reading is confined to the loop's thread. The output queue is
 * guarded by {@code lock}; a flushing thread writes to the socket itself, and the loop sends only what the socket does
 * not accept.
 *
 * <p>An accepted connection ends in order if its peer permits, so that the peer gets the last response. A connection
 * opened by this end ends in order only after {@link #close}; any other end, including that of the process, is a reset,
 * which discards the system's send queue: a command that was given up must not be delivered later.
 */
final class TcpTransport implements Transport, SelectorSource.Ready {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");

    /** Reads of one connection before the others of its loop get a turn. */
    private static final int MAX_READS_PER_TURN = 8;

    /** Time for a closed connection to deliver queued data, and for the peer to close its side. */
    private static final long LINGER_MS = 2000;

    private final SocketChannel channel;
    private final TcpSocket socket;
    /** Between this connection and its socket, or null: a plain one writes to the socket and reads from it itself. */
    private final @Nullable TlsLayer tls;
    private final ReadableByteChannel input;
    private final GatheringByteChannel out;
    /** Whether this end opened the connection, and sends commands by it. */
    private final boolean opener;
    private final CurrentLoop current;
    private final InetSocketAddress remote;
    private volatile SelectionKey key;
    /** Pending move of the connection after received data has been delivered. */
    private @Nullable Runnable move;
    private @Nullable PduReceiver receiver;
    private @Nullable PduReader reader;
    private Framing receiving = Framing.LOGIN;
    private boolean readingWanted = true;
    private boolean inputShut;
    private boolean over;
    private @Nullable IOException overCause;

    private final Turn whenReady = this::whenReady; // created once
    private final Runnable readHeld = this::readHeldHere; // created once

    private final ReentrantLock lock = new ReentrantLock();
    private final OutputQueue output; // guarded by lock
    private volatile Ending ending = Ending.OPEN;
    /** There was no memory for a PDU; guarded by lock. */
    private boolean starved;

    /** @param tls the connection's own, which it ends; null for a plain connection */
    TcpTransport(SocketChannel channel, SelectorSource source, Chunks chunks, boolean opener,
            @Nullable TlsLayer tls) throws IOException {
        this.channel = channel;
        this.opener = opener;
        this.tls = tls;
        input = tls == null ? channel : tls;
        out = tls == null ? channel : tls;
        socket = new TcpSocket(channel);
        if (opener) { // so that the end of the process is a reset too
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        remote = socket.remote();
        current = new CurrentLoop(source, remote);
        output = new OutputQueue(chunks, this::endLater);
        key = channel.register(source.selector(), 0);
    }

    /** Begins to read; on the loop's thread. */
    void start(Function<Transport, PduReceiver> maker) {
        key.attach(this);
        try {
            PduReceiver made = maker.apply(this);
            receiver = made;
            var from = new PduReader(made);
            from.framing(receiving);
            reader = from;
            if (over) { // its maker closed it, or sent to a peer that had gone
                postClosed();
            }
            interest();
            if (isHandshaking()) {
                guard(this::handshake);
            }
        } catch (RuntimeException | Error e) {
            end(null);
            throw e;
        }
    }

    // --- TLS ---

    /** Completes when data can be sent and received, or with the failure that ended the connection before. */
    CompletableFuture<Void> established() {
        return tls == null ? CompletableFuture.completedFuture(null) : tls.established();
    }

    private boolean isHandshaking() { return tls != null && tls.isHandshaking(); }

    /** Continues the handshake; what was queued meanwhile is sent after it. */
    private void handshake() throws IOException {
        TlsLayer layer = tls;
        if (layer == null || !layer.isHandshaking() || ending == Ending.ENDED) {
            return;
        }
        IOException failure;
        lock.lock();
        try {
            failure = layer.handshake(() -> current.later(() -> {
                layer.computed();
                guard(this::handshake);
            }));
        } finally {
            lock.unlock();
        }
        if (failure != null) {
            end(TlsFailure.ofHandshake(remote, opener, failure), false); // there is no command that must not arrive
        } else if (!layer.isHandshaking()) {
            boolean _ = layer.established().complete(null);
            flush();
            readHeld();
        }
        interest();
    }

    /**
     * After a read, sends pending output of the engine, and schedules another read if decrypted or received data is
     * buffered.
     */
    private void settle(TlsLayer layer) {
        if (layer.owes() && ending == Ending.OPEN) {
            flush();
            interest();
        }
        if (ending == Ending.OPEN && readingWanted && move == null && layer.hasInput()) {
            current.source().hold(readHeld); // after the other connections' turn
        }
    }

    /** Whether output waits for the socket; ends that of TLS if a closed connection has sent all. Under the lock. */
    private boolean hasOutput() {
        boolean isQueued = !output.isEmpty();
        if (tls != null && ending == Ending.LINGERING && !isQueued) {
            tls.closeOutput();
        }
        return tls == null ? isQueued : tls.hasOutput(isQueued);
    }

    /** Whether input is buffered that the selector does not report. */
    private boolean hasInput() {
        return (reader != null && reader.isHolding()) || (tls != null && tls.hasInput());
    }

    // --- sending ---

    @Override
    public void send(MemorySegment header, MemorySegment data, Release release) {
        lock.lock();
        try {
            if (ending == Ending.OPEN && !starved && !output.add(header, data, release)) {
                return;
            }
        } catch (OutputMemoryException e) {
            starve(e);
        } finally {
            lock.unlock();
        }
        release.release();
    }

    /** Ends the connection because nothing can be queued any longer; PDUs submitted until then are dropped. */
    private void starve(OutputMemoryException why) {
        starved = true;
        endLater(why);
    }

    /** Ends the connection on its loop, whatever that is by then. Any thread, under the lock of any connection. */
    private void endLater(OutputMemoryException why) {
        current.later(() -> current.run(() -> end(new IOException(why.getMessage(), why))));
    }

    @Override
    public boolean transfers() { return tls == null && !receiving.dataDigest(); }

    @Override
    public void transfer(MemorySegment header, Source from, long offsetBytes, Release release) {
        lock.lock();
        try {
            if (ending == Ending.OPEN && !starved) {
                output.add(header, from, offsetBytes, release);
                return;
            }
        } catch (OutputMemoryException e) {
            starve(e);
        } finally {
            lock.unlock();
        }
        release.release();
    }

    @Override
    public void flush() {
        IOException failure = null;
        boolean rest = false;
        lock.lock();
        try {
            if (ending != Ending.ENDED) {
                if (tls != null) {
                    tls.beginTurn();
                }
                rest = !output.writeTo(out);
                rest |= tls != null && !tls.flush();
            }
        } catch (IOException e) {
            failure = TlsFailure.ofConnection(remote, e);
        } catch (RuntimeException e) {
            failure = new IOException("cannot read the data to send to " + remote, e);
        } finally {
            lock.unlock();
        }
        releaseWritten();
        if (failure != null) {
            IOException cause = failure;
            current.run(() -> end(cause));
        } else if (rest || ending == Ending.LINGERING) {
            current.run(this::interest);
        }
    }

    private void releaseWritten() { output.releaseWritten(lock, remote); }

    @Override
    public long queuedBytes() { return output.queuedBytes(); }

    @Override
    public long bufferedBytes() { return output.bufferedBytes(); }

    @Override
    public boolean isCrowding() { return output.isCrowding(); }

    // --- receiving, on the loop's thread ---

    @Override
    public void run() { guard(whenReady); }

    private void whenReady() throws IOException {
        if (key.isValid() && key.isWritable()) {
            flush();
            interest(); // or a socket that takes everything would wake the loop forever
        }
        if (isHandshaking()) {
            handshake();
        } else if (key.isValid() && (key.isReadable() || (tls != null && tls.hasInput()))) {
            read();
        }
    }

    /** Reads what is held; not on a loop that the connection has left meanwhile, since the other one reads. */
    private void readHeldHere() {
        if (loop().inLoop()) {
            guard(this::readHeld);
        }
    }

    /** Delivers data received before reading was stopped, even if nothing more arrives. */
    private void readHeld() throws IOException {
        if (hasInput() && key.isValid() && !isHandshaking()) {
            read();
        }
    }

    /** A turn of the connection, which may fail. */
    @FunctionalInterface
    private interface Turn {
        void take() throws IOException;
    }

    private void guard(Turn turn) {
        try {
            turn.take();
            moveNow();
        } catch (IOException e) {
            end(TlsFailure.ofConnection(remote, e), opener || !(e instanceof SSLException));
        } catch (RuntimeException | Error e) {
            // A bug of ours: it ends this connection, with its trace in the log, and no other.
            LOG.log(System.Logger.Level.ERROR, "internal error on the connection to " + remote, e);
            end(new IOException("internal error", e));
        }
    }

    private void read() throws IOException {
        PduReceiver to = receiver;
        PduReader from = reader;
        MemorySegment staging = current.source().staging();
        ByteBuffer buffer = current.source().stagingBuffer();
        if (ending != Ending.OPEN || to == null || from == null) {
            discard(buffer);
            return;
        }
        boolean endOfInput = false;
        try {
            for (int i = 0; i < MAX_READS_PER_TURN && readingWanted && move == null
                    && ending == Ending.OPEN; i++) {
                buffer.clear().position(from.restore(staging));
                boolean drained = false;
                if (!from.isHolding()) {
                    buffer.limit(buffer.position() + from.wanted(buffer.remaining()));
                    // One buffer for each read: for a scattering one the JDK makes objects.
                    ByteBuffer destination = from.destination();
                    ByteBuffer into = destination == null ? buffer : destination;
                    if (input.read(into) < 0) {
                        endOfInput = true;
                        break;
                    }
                    drained = into.hasRemaining();
                }
                from.consume(staging, buffer.position());
                if (ending == Ending.OPEN) {
                    to.batchEnd();
                }
                if (drained) {
                    break;
                }
            }
        } catch (IscsiException e) {
            giveUp(e);
            return;
        }
        if (endOfInput) {
            endOfInput(from.inPdu()
                    ? TlsFailure.insidePdu(remote, opener && tls == null && from.holdsTlsAlert())
                    : null);
        } else if (tls != null) {
            settle(tls);
        }
    }

    /** Discards data received after the end; bounded by the linger time. */
    private void discard(ByteBuffer buffer) throws IOException {
        if (channel.read(buffer.clear()) < 0) {
            endOfInput(null);
        }
    }

    /** Handles the end of input. The peer may still read, so queued data is sent before the socket is closed. */
    private void endOfInput(@Nullable IOException cause) {
        inputShut = true;
        giveUp(cause);
        interest();
    }

    /** Ends the connection for a reason of the peer's: after the last answer, or, with commands queued, at once. */
    private void giveUp(@Nullable IOException cause) {
        if (opener && ending == Ending.OPEN) {
            end(cause);
        } else {
            close(cause);
        }
    }

    @Override
    public void framing(Framing framing) {
        receiving = framing;
        if (reader != null) {
            reader.framing(framing);
        }
        lock.lock();
        try {
            output.framing(framing);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void reading(boolean on) {
        readingWanted = on;
        PduReader from = reader;
        if (from != null) {
            from.pause(!on);
            if (on && hasInput()) {
                loop().execute(readHeld); // where no event of this connection is being handled
            }
        }
        interest();
    }

    @Override
    public void moveTo(EventLoop other, Runnable then) {
        if (!(other instanceof EventSourceLoop to
                && to.source() instanceof SelectorSource target)) {
            throw new IllegalArgumentException("not a loop of this transport");
        }
        if (target.equals(current.source())) {
            then.run();
        } else {
            move = () -> move(target, then);
            loop().execute(this::moveNow); // where no event of this connection is being handled
        }
    }

    private void moveNow() {
        Runnable moving = move;
        if (moving != null) {
            move = null;
            moving.run();
        }
    }

    /** Lets go of this loop and joins another, between two turns. */
    private void move(SelectorSource target, Runnable then) {
        if (ending != Ending.OPEN) {
            return;
        }
        key.cancel();
        current.become(target);
        target.loop().execute(() -> {
            try {
                key = channel.register(target.selector(), 0, this);
                then.run();
                interest();
                readHeldHere();
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "moving the connection to " + remote + " failed",
                        e);
                end(new IOException("internal error", e));
            }
        });
    }

    /**
     * Sets the interest set of the selector. Shuts the output of a closed connection that has sent everything, and then
     * ends it unless the peer's end is still awaited.
     */
    private void interest() {
        if (!key.isValid()) {
            return;
        }
        boolean more;
        lock.lock();
        try {
            more = hasOutput();
        } finally {
            lock.unlock();
        }
        boolean secured = !isHandshaking();
        if (ending == Ending.LINGERING && !more && secured && (inputShut || !socket.shutOutput())) {
            end(null, false);
            return;
        }
        boolean read = !inputShut && (readingWanted || ending == Ending.LINGERING || !secured)
                && (tls == null || tls.wantsInput());
        key.interestOps((read ? SelectionKey.OP_READ : 0) | (more ? SelectionKey.OP_WRITE : 0));
    }

    // --- ending ---

    @Override
    public void close() {
        if (ending == Ending.OPEN) {
            current.run(() -> close(null));
        }
    }

    /**
     * Ends the connection in order: the receiver is notified now, the peer gets queued data. Closing immediately would
     * send a reset if unread bytes are pending, and the peer would lose the last response.
     */
    private void close(@Nullable IOException cause) {
        lock.lock();
        try {
            if (ending != Ending.OPEN) {
                return;
            }
            ending = Ending.LINGERING;
        } finally {
            lock.unlock();
        }
        socket.linger(-1);
        tellClosed(cause);
        if (isHandshaking() && output.queuedBytes() == 0) { // nothing can be added any more
            end(cause, false);
            return;
        }
        if (tls != null) {
            tls.endInput();
        }
        loop().schedule(() -> end(null), LINGER_MS);
        flush();
    }

    @Override
    public void abort() { current.run(() -> end(null)); }

    /**
     * Ends the connection together with its loop: the peer of an accepted one gets the data that the socket accepts
     * immediately.
     */
    @Override
    public void endWithLoop() {
        if (opener && ending == Ending.OPEN) {
            end(null);
            return;
        }
        if (tls != null) {
            tls.beginLastTurn();
        }
        close(null);
        flush();
        socket.discard(current.source().stagingBuffer(), MAX_READS_PER_TURN);
        end(null, false);
    }

    /** Ends the connection now, with a reset. */
    void end(@Nullable IOException cause) {
        end(cause, true);
    }

    /** @param reset whether what the socket has not sent yet is discarded; else a peer by TLS is told why */
    private void end(@Nullable IOException cause, boolean reset) {
        lock.lock();
        try {
            if (ending == Ending.ENDED) {
                return;
            }
            ending = Ending.ENDED;
            output.clear();
            if (tls != null) {
                if (!reset) {
                    tls.alert();
                }
                tls.end(cause == null ? new IOException("connection closed") : cause);
            }
        } finally {
            lock.unlock();
        }
        socket.linger(reset ? 0 : -1);
        key.cancel();
        socket.close();
        tellClosed(cause);
        releaseWritten();
    }

    private void tellClosed(@Nullable IOException cause) {
        if (over) {
            return;
        }
        over = true;
        overCause = cause;
        if (reader != null) {
            reader.stop();
        }
        postClosed();
    }

    /** Later, so that a receiver which closes or sends from inside a call does not hear of the end inside it. */
    private void postClosed() {
        PduReceiver to = receiver;
        if (to != null) {
            receiver = null;
            IOException cause = overCause;
            loop().execute(() -> to.closed(cause));
        }
    }

    @Override
    public EventLoop loop() { return current.loop(); }

    @Override
    public InetSocketAddress remote() { return remote; }

    @Override
    public InetSocketAddress local() { return socket.local(); }
}
