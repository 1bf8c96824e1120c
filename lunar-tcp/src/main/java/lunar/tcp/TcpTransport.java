package lunar.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import lunar.iscsi.IscsiException;
import lunar.iscsi.PduReader;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Framing;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import org.jspecify.annotations.Nullable;

/**
 * One TCP connection. Reading belongs to the loop's thread. The output queue is guarded by {@code lock}; whoever
 * flushes writes to the socket itself, and only what the socket does not take is left to the loop.
 */
final class TcpTransport implements Transport, SelectorLoop.Ready {
    /** Reads of one connection before the others of its loop get a turn. */
    private static final int MAX_READS_PER_TURN = 8;

    /** How long a closed connection may take to deliver what was queued, and the peer to close its side. */
    private static final long LINGER_MS = 2000;

    private enum Ending {
        /** In use. */
        OPEN,
        /** Closed by us: sending what is queued, throwing away what comes. */
        LINGERING,
        /** The socket is closed. */
        ENDED
    }

    private final SocketChannel channel;
    private final SelectorLoop loop;
    private final InetSocketAddress remote;
    private final InetSocketAddress local;
    private final SelectionKey key;
    private final ByteBuffer[] scatter = new ByteBuffer[2];
    private @Nullable PduReceiver receiver;
    private @Nullable PduReader reader;
    private boolean readingWanted = true;
    private boolean outputShut;

    private final ReentrantLock lock = new ReentrantLock();
    private final OutputQueue output; // guarded by lock
    private volatile Ending ending = Ending.OPEN;

    TcpTransport(SocketChannel channel, SelectorLoop loop, Chunks chunks) throws IOException {
        this.channel = channel;
        this.loop = loop;
        remote = (InetSocketAddress) channel.getRemoteAddress();
        local = (InetSocketAddress) channel.getLocalAddress();
        output = new OutputQueue(chunks);
        key = channel.register(loop.selector(), 0);
    }

    /** Begins to read; on the loop's thread. */
    void start(PduReceiver receiver) {
        this.receiver = receiver;
        reader = new PduReader(receiver);
        key.attach(this);
        interest();
    }

    // --- sending ---

    @Override
    public void send(MemorySegment header, MemorySegment data, Release release) {
        lock.lock();
        try {
            if (ending == Ending.OPEN && !output.add(header, data, release)) {
                return;
            }
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

    /** Gives written data back to their owners, outside the lock, since owners may send in turn. */
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
            release.release();
        }
    }

    @Override
    public long queuedBytes() { return output.queuedBytes(); }

    // --- receiving, on the loop's thread ---

    @Override
    public void run() {
        try {
            if (key.isValid() && key.isWritable()) {
                flush();
            }
            if (key.isValid() && key.isReadable()) {
                read();
            }
        } catch (IOException e) {
            end(e);
        } catch (RuntimeException | Error e) {
            // A bug of ours: it ends this connection, with its trace in the log, and no other.
            System.getLogger("lunar.tcp").log(System.Logger.Level.ERROR,
                    "connection from " + remote, e);
            end(new IOException("internal error", e));
        }
    }

    private void read() throws IOException {
        PduReceiver to = receiver;
        PduReader from = reader;
        if (from == null) {
            return;
        }
        MemorySegment staging = loop.staging();
        ByteBuffer buffer = loop.stagingBuffer();
        for (int turn = 0; turn < MAX_READS_PER_TURN; turn++) {
            if (ending != Ending.OPEN) {
                discard(buffer);
                return;
            }
            buffer.clear().position(from.restore(staging));
            ByteBuffer destination = from.destination();
            long count;
            if (destination == null) {
                count = channel.read(buffer);
            } else {
                scatter[0] = destination;
                scatter[1] = buffer;
                count = channel.read(scatter);
            }
            if (count < 0) {
                end(null);
                return;
            }
            try {
                from.consume(staging, buffer.position());
            } catch (IscsiException e) {
                close(e);
                return;
            }
            if (buffer.hasRemaining() || !readingWanted || ending != Ending.OPEN) {
                break;
            }
        }
        if (ending == Ending.OPEN && to != null) {
            try {
                to.batchEnd();
            } catch (IscsiException e) {
                close(e);
            }
        }
    }

    private void discard(ByteBuffer buffer) throws IOException {
        buffer.clear();
        if (channel.read(buffer) < 0) {
            end(null);
        }
    }

    @Override
    public void framing(Framing framing) {
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
        interest();
    }

    /** Sets what the selector waits for; once a closed connection has sent all, tells the peer so. */
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
        if (ending == Ending.LINGERING && !more && !outputShut) {
            outputShut = true;
            try {
                channel.shutdownOutput();
            } catch (IOException e) {
                end(null);
                return;
            }
        }
        boolean read = readingWanted || ending == Ending.LINGERING;
        key.interestOps((read ? SelectionKey.OP_READ : 0) | (more ? SelectionKey.OP_WRITE : 0));
    }

    // --- ending ---

    @Override
    public void close() { runInLoop(() -> close(null)); }

    /**
     * Ends the connection in order: the receiver hears of it now, the peer gets what is queued. Closing at once
     * would send a reset where unread bytes wait, and the peer would lose our last answer.
     */
    private void close(@Nullable IOException cause) {
        if (ending != Ending.OPEN) {
            return;
        }
        flush();
        lock.lock();
        try {
            if (ending != Ending.OPEN) {
                return;
            }
            ending = Ending.LINGERING;
        } finally {
            lock.unlock();
        }
        interest();
        loop.schedule(() -> end(null), LINGER_MS);
        tellClosed(cause);
    }

    /** Ends the connection at once. */
    void end(@Nullable IOException cause) {
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
        key.cancel();
        SelectorLoop.closeQuietly(channel);
        releaseWritten();
        tellClosed(cause);
    }

    private void tellClosed(@Nullable IOException cause) {
        PduReceiver to = receiver;
        receiver = null;
        if (reader != null) {
            reader.stop();
        }
        if (to != null) {
            to.closed(cause);
        }
    }

    private void runInLoop(Runnable task) {
        if (loop.inLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    @Override
    public EventLoop loop() { return loop; }

    @Override
    public InetSocketAddress remote() { return remote; }

    @Override
    public InetSocketAddress local() { return local; }
}
