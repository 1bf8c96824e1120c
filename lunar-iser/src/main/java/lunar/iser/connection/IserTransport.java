package lunar.iser.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import lunar.iser.memory.DeviceMemory;
import lunar.rdma.ConnectionException;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointHandler;
import lunar.rdma.EndpointState;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Transport of one iSER connection. {@link PduExchange} implements the protocol; this class has the life cycle, from
 * the established endpoint to the closed one.
 *
 * <p>To end the connection, it disconnects the endpoint, which makes the device end all posted operations, waits until
 * these have been reported, and closes the endpoint. Only then are the buffers that the peer could access released and
 * the receiver notified. An orderly close sends what is queued before.
 *
 * <p>Threads are those of {@link Transport}. Completions are handled by the home loop, deliveries by the owner loop.
 */
public final class IserTransport implements Transport {
    /** Is notified on the home loop when the connection is established, or has failed before. */
    public interface Beginning {
        /** Returns the receiver of the established connection. */
        PduReceiver begin(IserTransport connection);

        /** The connection cannot be established. */
        void failed(IOException why);
    }

    private static final System.Logger LOG = System.getLogger("lunar.iser");

    /** Longest wait for the device to report flushed operations; then the endpoint is closed regardless. */
    private static final long FLUSH_MS = 30_000;

    /** Longest wait for queued PDUs to be sent at an orderly close. */
    private static final long CLOSE_MS = 2_000;

    private final Home home;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final PduExchange exchange;
    private final Beginning beginning;
    private final ArrayDeque<Arrival> arrivals = new ArrayDeque<>(); // guarded by itself
    private volatile EventLoop owner;
    /** Whether arrivals are dropped: the connection has been aborted or is closing. */
    private volatile boolean isDropping;
    /** Whether the endpoint is closed, and its memory released. */
    private volatile boolean isFinished;

    // Owner's thread only.
    private @Nullable PduReceiver receiver;
    private boolean isStopped;

    // Home loop's thread only.
    private @Nullable Endpoint endpoint;
    private boolean isTouched;
    private boolean isEnding;
    private boolean endsWhenSent;
    private EventLoop.@Nullable Timer timer;
    /** Reason of the end; null for an orderly end. */
    private volatile @Nullable IOException cause;

    /**
     * @param home event loop that polls the endpoint's completion queues
     * @param isInitiator whether this end has connected, rather than accepted
     * @param needsHello whether this end, as an initiator, requires the exchange of Hello and HelloReply
     */
    public IserTransport(Home home, DeviceMemory memory, boolean isInitiator, boolean needsHello,
            InetSocketAddress local, InetSocketAddress remote, Beginning beginning) {
        this.home = home;
        this.local = local;
        this.remote = remote;
        this.beginning = beginning;
        owner = home.loop();
        exchange = new PduExchange(memory, isInitiator, needsHello, new PduExchange.User() {
            @Override
            public void arrived(Arrival arrival) { IserTransport.this.arrived(arrival); }

            @Override
            public void progress() { touch(); }

            @Override
            public void failed(IOException why) { fail(why); }
        });
    }

    // --- establishing ---

    /** Returns the handler for the events of the endpoint. */
    public EndpointHandler handler() {
        return new EndpointHandler() {
            @Override
            public void established(Endpoint connected, byte[] privateData) {
                IserTransport.this.established(connected);
            }

            @Override
            public void failed(Endpoint failed, ConnectionException why) {
                beginning.failed(why);
                end(why);
            }

            @Override
            public void disconnected(Endpoint gone) { end(null); }
        };
    }

    /** Sets the endpoint, and posts the first receives. For the thread that has created it, before it is connected. */
    public void open(Endpoint made) throws RdmaException {
        endpoint = made;
        exchange.open(made);
    }

    /**
     * Sets whether SCSI Responses invalidate an STag of the peer; before the connection is established.
     *
     * @param supported whether both the peer and the device support Send with Invalidate
     */
    public void invalidates(boolean supported) { exchange.invalidates(supported); }

    private void established(Endpoint connected) {
        exchange.established(connected);
        try {
            receiver = beginning.begin(this);
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "cannot set up the new connection with " + remote,
                    e);
            beginning.failed(new IOException(e));
            abort();
            return;
        }
        drain(); // messages can arrive before this event
    }

    // --- sending ---

    @Override
    public Offer offer(Offer wanted) { return exchange.offer(wanted); }

    @Override
    public void agreed(OperationalParameters parameters, int commands) {
        exchange.agreed(parameters, commands);
    }

    @Override
    public boolean placesData() { return true; }

    @Override
    public void send(MemorySegment header, MemorySegment data, Release release) {
        exchange.send(header, data, release);
    }

    @Override
    public void sendCommand(MemorySegment header, MemorySegment data, MemorySegment dataIn,
            MemorySegment dataOut, Release release) {
        exchange.sendCommand(header, data, dataIn, dataOut, release);
    }

    @Override
    public void withdraw(int itt) {
        Runnable release = exchange.withdraw(itt);
        try {
            home.loop().execute(release);
        } catch (RejectedExecutionException _) {
            release.run(); // the loop has ended, and the connection with it
        }
    }

    @Override
    public void fetch(MemorySegment r2t, MemorySegment into, Release release) {
        exchange.fetch(r2t, into, release);
    }

    @Override
    public void flush() { exchange.flush(); }

    @Override
    public long queuedBytes() { return exchange.queuedBytes(); }

    @Override
    public long bufferedBytes() { return exchange.bufferedBytes(); }

    // --- receiving ---

    /** Queues an arrival, which is delivered at the end of the turn; on the home loop. */
    private void arrived(Arrival arrival) {
        synchronized (arrivals) {
            arrivals.add(arrival);
        }
        touch();
    }

    /** Has {@link #turnEnd} called at the end of the turn; on the home loop. */
    private void touch() {
        if (!isTouched) {
            isTouched = true;
            home.touched(this);
        }
    }

    /** Handles the results of a turn's completions: delivers arrivals, goes on with the end. On the home loop. */
    public void turnEnd() {
        isTouched = false;
        if (isEnding) {
            finishIfFlushed();
        } else if (endsWhenSent && exchange.isIdle()) {
            end(null);
        }
        synchronized (arrivals) {
            if (arrivals.isEmpty()) {
                return;
            }
        }
        if (owner.inLoop()) {
            drain();
        } else {
            drainByOwner();
        }
    }

    /** Has the owner's thread deliver later, so not from within a call to the receiver. */
    private void drainByOwner() {
        try {
            owner.execute(this::drain);
        } catch (RejectedExecutionException _) {
            deliver(); // the owner's thread has ended
        }
    }

    private @Nullable Arrival next() {
        synchronized (arrivals) {
            return arrivals.poll();
        }
    }

    /** Delivers arrivals, unless the connection has moved to another loop meanwhile, which then delivers them. */
    private void drain() {
        if (owner.inLoop()) {
            deliver();
        }
    }

    /** Delivers arrivals, and after them the end of the connection; on the owner's thread. */
    private void deliver() {
        EventLoop mine = owner;
        PduReceiver to = receiver;
        if (to == null) {
            if (isFinished) {
                dropArrivals();
                exchange.releaseExposed();
            }
            return;
        }
        boolean any = false;
        try {
            while (!isStopped && !isDropping && mine.equals(owner)) {
                Arrival arrival = next();
                if (arrival == null) {
                    break;
                }
                any = true;
                arrival.deliver(to);
            }
            if (any && !isDropping && mine.equals(owner)) {
                to.batchEnd();
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e instanceof IOException io ? io : new IOException(e));
        }
        if (isFinished && mine.equals(owner) && (isDropping || !isStopped)) {
            tellEnd();
        }
    }

    private void dropArrivals() {
        for (Arrival each; (each = next()) != null;) {
            each.drop();
        }
    }

    private void tellEnd() {
        dropArrivals();
        exchange.releaseExposed();
        PduReceiver last = receiver;
        receiver = null;
        if (last != null) {
            last.closed(cause);
        }
    }

    @Override
    public void reading(boolean on) {
        isStopped = !on;
        if (on) {
            owner.execute(this::drain);
        }
    }

    @Override
    public void framing(Framing framing) { exchange.framing(framing); }

    // --- event loop ---

    @Override
    public EventLoop loop() { return owner; }

    @Override
    public void moveTo(EventLoop other, Runnable then) {
        owner = other;
        other.execute(() -> {
            if (receiver != null) {
                then.run();
                drain();
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
        exchange.close();
        atHome(() -> {
            endsWhenSent = true;
            if (isEnding || exchange.isIdle()) {
                end(null);
            } else {
                timer = home.loop().schedule(() -> end(null), CLOSE_MS);
            }
        });
    }

    @Override
    public void abort() {
        isDropping = true;
        exchange.stop();
        atHome(() -> end(new IOException("the connection was aborted")));
    }

    /** Ends the connection after a failure; any thread. */
    private void fail(IOException why) {
        if (cause == null && !isFinished) {
            cause = why;
        }
        isDropping = true;
        exchange.stop();
        atHome(() -> end(why));
    }

    private void atHome(Runnable task) {
        try {
            home.loop().execute(task);
        } catch (RejectedExecutionException _) {
            // the loop has ended, and the connection with it
        }
    }

    /** Begins to end the connection; on the home loop. */
    private void end(@Nullable IOException why) {
        if (endsWhenSent || why != null) {
            isDropping = true;
        }
        if (isEnding) {
            if (isFinished) {
                drainByOwner(); // the receiver, if reading was off, may not have been notified
            }
            return;
        }
        isEnding = true;
        if (cause == null) {
            cause = why;
        }
        cancelTimer();
        exchange.stop();
        Endpoint ending = endpoint;
        if (ending != null && ending.state() == EndpointState.CONNECTED) {
            ending.disconnect();
        }
        exchange.dropWaiting();
        timer = home.loop().schedule(this::finish, FLUSH_MS);
        touch(); // all operations may have been reported already
    }

    private void finishIfFlushed() {
        Endpoint ending = endpoint;
        if (ending == null || ending.state() != EndpointState.ERROR
                || (ending.postedSends() == 0 && ending.postedReceives() == 0)) {
            finish();
        }
    }

    /**
     * Closes the endpoint, and releases the memory that the device could access. Memory that the peer could access is
     * released after the arrivals have been delivered. On the home loop.
     */
    private void finish() {
        if (isFinished) {
            return;
        }
        cancelTimer();
        Endpoint ending = endpoint;
        if (ending != null) {
            ending.close();
        }
        exchange.release();
        if (cause == null && !endsWhenSent && exchange.wasCut()) {
            cause = new IOException("the peer ended the connection in the middle of a transfer");
        }
        isFinished = true;
        home.remove(this);
        drainByOwner();
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
        }
    }

    /** Ends the connection at once, since its event loop ends; on the home loop. */
    public void endWithLoop() {
        isDropping = true;
        if (cause == null) {
            cause = new IOException("the event loop has ended");
        }
        isEnding = true;
        exchange.stop();
        exchange.dropWaiting();
        finish();
        exchange.releaseExposed(); // before the device and its memory are closed
    }

    /** Returns the beginning of an accepted connection, which only creates the receiver. */
    public static Beginning accepted(Function<IserTransport, PduReceiver> receiver) {
        return new Beginning() {
            @Override
            public PduReceiver begin(IserTransport connection) {
                return receiver.apply(connection);
            }

            @Override
            public void failed(IOException why) {
                LOG.log(System.Logger.Level.DEBUG, "connection not established: {0}",
                        why.toString());
            }
        };
    }
}
