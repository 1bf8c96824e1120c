package lunar.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import lunar.iscsi.IscsiException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReader;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import lunar.loop.EventSourceLoop;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection. Reading is confined to the loop's thread. The output queue is guarded by {@code lock}; a flushing
 * thread writes to the socket itself, and the loop sends only what the socket does not accept.
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

    private enum Ending {
        /** In use. */
        OPEN,
        /** Closed by this end: sending queued data, discarding received data. */
        LINGERING,
        /** The socket is closed. */
        ENDED
    }

    private final SocketChannel channel;
    /** Whether this end opened the connection, and sends commands by it. */
    private final boolean opener;
    private volatile SelectorSource source;
    private final InetSocketAddress remote;
    private final InetSocketAddress local;
    private volatile SelectionKey key;
    /** Pending move of the connection after received data has been delivered. */
    private @Nullable Runnable move;
    private @Nullable PduReceiver receiver;
    private @Nullable PduReader reader;
    private Framing receiving = Framing.LOGIN;
    private boolean readingWanted = true;
    private boolean inputShut;
    private boolean outputShut;
    private boolean over;
    private @Nullable IOException overCause;

    private final Turn whenReady = this::whenReady; // created once

    private final ReentrantLock lock = new ReentrantLock();
    private final OutputQueue output; // guarded by lock
    private volatile Ending ending = Ending.OPEN;
    /** There was no memory for a PDU; guarded by lock. */
    private boolean starved;

    TcpTransport(SocketChannel channel, SelectorSource source, Chunks chunks, boolean opener)
            throws IOException {
        this.channel = channel;
        this.source = source;
        this.opener = opener;
        if (opener) { // so that the end of the process is a reset too
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        remote = (InetSocketAddress) channel.getRemoteAddress();
        local = (InetSocketAddress) channel.getLocalAddress();
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
        } catch (RuntimeException | Error e) {
            end(null);
            throw e;
        }
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
        runLater(() -> runInLoop(() -> end(new IOException(why.getMessage(), why))));
    }

    @Override
    public boolean transfers() { return !receiving.dataDigest(); }

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
                rest = !output.writeTo(channel);
            }
        } catch (IOException e) {
            failure = e;
        } catch (RuntimeException e) {
            failure = new IOException("cannot read the data to send to " + remote, e);
        } finally {
            lock.unlock();
        }
        releaseWritten();
        if (failure != null) {
            IOException cause = failure;
            runInLoop(() -> end(cause));
        } else if (rest || ending == Ending.LINGERING) {
            runInLoop(this::interest);
        }
    }

    /** Releases written data to its owners, outside the lock, because owners may send in turn. */
    private void releaseWritten() {
        while (true) {
            Release release;
            lock.lock();
            try {
                release = output.pollWritten();
            } finally {
                lock.unlock();
            }
            if (release == null) {
                return;
            }
            try {
                release.release();
            } catch (RuntimeException e) {
                // One owner's bug; the other owners wait for their data, and the socket for its next write.
                LOG.log(System.Logger.Level.ERROR, "releasing data sent to " + remote + " failed",
                        e);
            }
        }
    }

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
        if (key.isValid() && key.isReadable()) {
            read();
        }
    }

    /** Delivers data received before reading was stopped, even if nothing more arrives. */
    private void readHeld() throws IOException {
        if (reader != null && reader.isHolding() && key.isValid()) {
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
            end(e);
        } catch (RuntimeException | Error e) {
            // A bug of ours: it ends this connection, with its trace in the log, and no other.
            LOG.log(System.Logger.Level.ERROR, "internal error on the connection to " + remote, e);
            end(new IOException("internal error", e));
        }
    }

    private void read() throws IOException {
        PduReceiver to = receiver;
        PduReader from = reader;
        MemorySegment staging = source.staging();
        ByteBuffer buffer = source.stagingBuffer();
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
                    if (channel.read(into) < 0) {
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
                    ? new EOFException(remote + " closed the connection inside a PDU")
                    : null);
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
            if (on && from.isHolding()) {
                loop().execute(() -> guard(this::readHeld)); // where no event of this connection is being handled
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
        if (target.equals(source)) {
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
        source = target;
        target.loop().execute(() -> {
            try {
                key = channel.register(target.selector(), 0, this);
                then.run();
                interest();
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "moving the connection to " + remote + " failed",
                        e);
                end(new IOException("internal error", e));
            }
        });
    }

    /** Sets the interest set of the selector; shuts the output of a closed connection that has sent everything. */
    private void interest() {
        if (!key.isValid()) {
            return;
        }
        boolean more;
        lock.lock();
        try {
            more = !output.isEmpty();
        } finally {
            lock.unlock();
        }
        if (ending == Ending.LINGERING && !more && !shutOutput()) {
            end(null, false);
            return;
        }
        boolean read = !inputShut && (readingWanted || ending == Ending.LINGERING);
        key.interestOps((read ? SelectionKey.OP_READ : 0) | (more ? SelectionKey.OP_WRITE : 0));
    }

    /** Shuts the output. Returns whether the peer's end is still awaited. */
    private boolean shutOutput() {
        if (!outputShut && !inputShut) {
            outputShut = true;
            try {
                channel.shutdownOutput();
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "end of output to {0}: {1}", remote, e);
                return false;
            }
        }
        return !inputShut;
    }

    // --- ending ---

    @Override
    public void close() {
        if (ending == Ending.OPEN) {
            runInLoop(() -> close(null));
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
        linger(-1);
        tellClosed(cause);
        loop().schedule(() -> end(null), LINGER_MS);
        flush();
    }

    @Override
    public void abort() { runInLoop(() -> end(null)); }

    /** Sets how the socket closes: 0 for a reset, -1 for the end in order (setsockopt SO_LINGER, socket(7)). */
    private void linger(int seconds) {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, seconds);
        } catch (IOException | RuntimeException e) { // closed already
            LOG.log(System.Logger.Level.DEBUG, "linger of {0}: {1}", remote, e.toString());
        }
    }

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
        close(null);
        try {
            ByteBuffer buffer = source.stagingBuffer();
            for (int i = 0; i < MAX_READS_PER_TURN && channel.read(buffer.clear()) > 0; i++) {
                // Unread bytes would make a reset of the close.
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "last read from {0}: {1}", remote, e);
        }
        end(null, false);
    }

    /** Ends the connection at once, with a reset. */
    void end(@Nullable IOException cause) {
        end(cause, true);
    }

    private void end(@Nullable IOException cause, boolean reset) {
        lock.lock();
        try {
            if (ending == Ending.ENDED) {
                return;
            }
            ending = Ending.ENDED;
            output.clear();
        } finally {
            lock.unlock();
        }
        if (reset) {
            linger(0);
        }
        key.cancel();
        SelectorSource.closeQuietly(channel);
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

    private void runInLoop(Runnable task) {
        if (loop().inLoop()) {
            task.run();
        } else {
            runLater(task);
        }
    }

    private void runLater(Runnable task) {
        try {
            loop().execute(task);
        } catch (RejectedExecutionException e) {
            // The loop has ended, and this connection with it.
            LOG.log(System.Logger.Level.DEBUG, "connection to {0}: {1}", remote, e);
        }
    }

    @Override
    public EventLoop loop() { return source.loop(); }

    @Override
    public InetSocketAddress remote() { return remote; }

    @Override
    public InetSocketAddress local() { return local; }
}
