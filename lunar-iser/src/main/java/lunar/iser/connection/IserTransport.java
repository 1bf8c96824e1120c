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
 * One end of a connection over an endpoint. {@link PduExchange} does what the protocol says; this is its life, from the
 * endpoint that is connected to the one that is closed:
 *
 * <p>An end that is not in order disconnects the endpoint, which makes the device end everything that is posted, waits
 * until all of that was reported, and closes the endpoint. Only then the buffers that the peer could access are
 * released, and the receiver hears of the end.
 */
public final class IserTransport implements Transport {
    /** Hears how the connection begins, on the home loop. */
    public interface Beginning {
        /** Makes the receiver of the connection. */
        PduReceiver begin(IserTransport connection);

        /** There will be no connection. */
        void failed(IOException why);
    }

    private static final System.Logger LOG = System.getLogger("lunar.iser");

    /** How long a device may take to report what it has ended, before its endpoint is closed all the same. */
    private static final long FLUSH_MS = 30_000;

    /** How long what is queued may take at an end in order. */
    private static final long CLOSE_MS = 2_000;

    private final Home home;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final PduExchange exchange;
    private final Beginning beginning;
    private final ArrayDeque<Arrival> arrivals = new ArrayDeque<>(); // guarded by itself
    private volatile EventLoop owner;
    /** Nothing is delivered any more: the connection was aborted, or is closing. */
    private volatile boolean isDropping;
    /** The endpoint is closed, and its memory released. */
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
    /** Why it ends; null for an end in order. */
    private volatile @Nullable IOException cause;

    /**
     * @param isInitiator whether this end has connected
     * @param needsHello whether this end, as an initiator, wants the exchange of Hello and HelloReply
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

    // --- its beginning ---

    /** Handles the events of the endpoint. */
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

    /** Takes the endpoint, and posts the first receives. By the thread that has made it, before it is connected. */
    public void open(Endpoint made) throws RdmaException {
        endpoint = made;
        exchange.open(made);
    }

    /**
     * Sets whether the peer takes invalidations of its keys; before the connection is established.
     *
     * @param device the device can invalidate, too
     */
    public void invalidates(boolean device) { exchange.invalidates(device); }

    private void established(Endpoint connected) {
        exchange.established(connected);
        try {
            receiver = beginning.begin(this);
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "no receiver for a new connection", e);
            beginning.failed(new IOException(e));
            abort();
            return;
        }
        drain(); // messages can come before this event
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
            release.run(); // the loop has ended, and with it the connection
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

    /** Something has come; on the home loop. Delivered at the end of the turn. */
    private void arrived(Arrival arrival) {
        synchronized (arrivals) {
            arrivals.add(arrival);
        }
        touch();
    }

    /** Has the end of the turn looked at. */
    private void touch() {
        if (!isTouched) {
            isTouched = true;
            home.touched(this);
        }
    }

    /** Handles what the completions of a turn have brought; on the home loop. */
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

    /** Has the owner's thread drain, later: not from inside a call to the receiver. */
    private void drainByOwner() {
        try {
            owner.execute(this::drain);
        } catch (RejectedExecutionException _) {
            deliver(); // there is no thread any more that could run it
        }
    }

    private @Nullable Arrival next() {
        synchronized (arrivals) {
            return arrivals.poll();
        }
    }

    /** Delivers what has come, unless the connection has moved since this was wanted: its new owner does it then. */
    private void drain() {
        if (owner.inLoop()) {
            deliver();
        }
    }

    /** Delivers what has come, and then the end; on the owner's thread. */
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

    // --- its loop ---

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
            // the loop has ended, and with it this connection
        }
    }

    /** Begins to end the connection; on the home loop. */
    private void end(@Nullable IOException why) {
        if (endsWhenSent || why != null) {
            isDropping = true;
        }
        if (isEnding) {
            if (isFinished) {
                drainByOwner(); // a receiver that is not read for may not have been told
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
        touch(); // all may have been reported already
    }

    private void finishIfFlushed() {
        Endpoint ending = endpoint;
        if (ending == null || ending.state() != EndpointState.ERROR
                || (ending.postedSends() == 0 && ending.postedReceives() == 0)) {
            finish();
        }
    }

    /**
     * Closes the endpoint, and releases what the device could access. What the peer could access is released once that
     * which has come was delivered. On the home loop.
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

    /** Ends the connection with its loop, at once; on the home loop. */
    public void endWithLoop() {
        isDropping = true;
        if (cause == null) {
            cause = new IOException("the event loop has ended");
        }
        isEnding = true;
        exchange.stop();
        exchange.dropWaiting();
        finish();
        exchange.releaseExposed(); // before the device's memory
    }

    /** Returns a beginning that makes the receiver and completes nothing else. */
    public static Beginning accepted(Function<IserTransport, PduReceiver> receiver) {
        return new Beginning() {
            @Override
            public PduReceiver begin(IserTransport connection) {
                return receiver.apply(connection);
            }

            @Override
            public void failed(IOException why) {
                LOG.log(System.Logger.Level.DEBUG, "a new connection failed: {0}", why.toString());
            }
        };
    }
}
