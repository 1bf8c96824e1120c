package lunar.target.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.session.ConnectionAction;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.session.ConnectionMachine;
import lunar.iscsi.session.ConnectionState;
import lunar.iscsi.session.ConnectionTimer;
import lunar.iscsi.session.Step;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;
import org.jspecify.annotations.Nullable;

/**
 * A connection of an initiator. Its state is in {@link ConnectionMachine}; its current phase, login or full feature,
 * handles PDUs. Confined to the thread of its transport's event loop.
 */
public final class Connection implements PduReceiver {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final ConnectionRegistry registry;
    private final WarningLimiter warnings;
    private final long loginTimeoutMs;
    private final BoundPortal portal;
    private final Transport transport;
    private final Origin origin;
    private final Map<ConnectionTimer, EventLoop.Timer> timers = new EnumMap<>(
            ConnectionTimer.class);
    private ConnectionState state = ConnectionState.FREE;
    private ConnectionPhase phase;
    private @Nullable String reason;
    private @Nullable IOException failure;
    /** Whether the initiator has logged it, or its session, out. */
    private boolean loggedOut;
    /** Whether the connection ends by a reset, without delivering a last response. */
    private boolean aborted;
    private boolean transportOver;
    private long logoutWithinMs;

    /** @param login creates the first phase of the connection */
    Connection(BoundPortal portal, Transport transport, ConnectionRegistry registry,
            WarningLimiter warnings, long loginTimeoutMs,
            Function<Connection, ConnectionPhase> login) {
        this.portal = portal;
        this.transport = transport;
        this.registry = registry;
        this.warnings = warnings;
        this.loginTimeoutMs = loginTimeoutMs;
        origin = Origin.of(transport.remote().getAddress());
        phase = login.apply(this);
        happened(new ConnectionEvent.Accepted());
    }

    /** Returns the portal that accepted it. */
    BoundPortal portal() { return portal; }

    /** Returns the origin of its peer. */
    Origin origin() { return origin; }

    ConnectionState state() { return state; }

    /** Returns the size of responses that the peer has not received. Any thread. */
    long answerBytes() {
        return transport.bufferedBytes();
    }

    /** Enters full feature phase after a successful login; its response has been handed to the transport. */
    void enter(ConnectionPhase fullFeature) {
        phase = fullFeature;
        if (!fullFeature.isDiscovery()) {
            registry.loggedIn(this);
        }
        happened(new ConnectionEvent.LoginSucceeded());
    }

    /** Returns the address and port of its peer. */
    String peer() {
        return printable(transport.remote());
    }

    /** Returns why it has ended or is about to, for people. */
    String whyEnded() {
        if (reason != null) {
            return reason;
        }
        if (loggedOut) {
            return "logged out";
        }
        return failure == null || failure.getMessage() == null
                ? "the initiator closed the connection"
                : failure.getMessage();
    }

    /** Ends the connection by an event; the reason is logged when it has ended. */
    void end(String why, ConnectionEvent event) {
        if (reason == null) {
            reason = why;
        }
        happened(event);
    }

    /** Asks the initiator to log out (AsyncEvent 1); ends the connection if it does not do so in time. */
    void askForLogout(long withinMs) {
        if (state == ConnectionState.LOGGED_IN) {
            logoutWithinMs = withinMs;
            happened(new ConnectionEvent.LogoutDemanded());
        }
    }

    /** Leaves a portal that has been removed: ends a login, and asks for a logout otherwise. Any thread. */
    void leavePortal(long withinMs) {
        later(() -> {
            if (state == ConnectionState.XPT_UP || state == ConnectionState.IN_LOGIN) {
                phase.refuse(LoginStatus.SERVICE_UNAVAILABLE, "its portal has been removed");
                end("its portal has been removed", new ConnectionEvent.SessionClosed());
            } else {
                askForLogout(withinMs);
            }
        });
    }

    /**
     * Ends the connection, and refuses a login that it has begun, in favor of newer ones; unless it has begun a normal
     * session meanwhile. Any thread.
     */
    void crowdOut() {
        later(() -> {
            if (state == ConnectionState.XPT_UP || state == ConnectionState.IN_LOGIN
                    || (state == ConnectionState.LOGGED_IN && phase.isDiscovery())) {
                phase.refuse(LoginStatus.OUT_OF_RESOURCES,
                        "too many connections have not logged in");
                happened(new ConnectionEvent.SessionClosed()); // not logged, because there may be a flood of them
            }
        });
    }

    void happened(ConnectionEvent event) {
        aborted |= switch (event) {
            case ConnectionEvent.Reinstated _,ConnectionEvent.Dropped _,ConnectionEvent.TransportLost _,ConnectionEvent.TimedOut _ ->
                true;
            default -> false; // a Logout Response, a refusal or an Asynchronous Message is being sent
        };
        loggedOut |= event instanceof ConnectionEvent.LogoutBegun
                || event instanceof ConnectionEvent.SessionClosed;
        Step<ConnectionState, ConnectionAction> step;
        try {
            step = ConnectionMachine.step(state, event);
        } catch (ProtocolException e) {
            throw new IllegalStateException(e.getMessage(), e); // the phases pass on only legal events
        }
        state = step.state();
        step.actions().forEach(this::perform);
    }

    private void perform(ConnectionAction action) {
        switch (action) {
            case ConnectionAction.StartTimer(ConnectionTimer timer) -> start(timer);
            case ConnectionAction.CancelTimer(ConnectionTimer timer) -> cancel(timer);
            case ConnectionAction.EnterFullFeature _ -> {
                // the phase has been entered
            }
            case ConnectionAction.StopCommands _ -> phase.stopCommands();
            case ConnectionAction.CloseTransport _ -> {
                if (aborted && !transportOver) {
                    transport.abort();
                } else {
                    transport.close();
                }
            }
            case ConnectionAction.SuspendTasks _ -> phase.suspend();
            case ConnectionAction.Release _ -> phase.over();
            case ConnectionAction.AskForLogout _ ->
                phase.demandLogout(Math.clamp((logoutWithinMs + 999) / 1000, 1, 0xffff));
            case ConnectionAction.OpenTransport _,ConnectionAction.BeginLogin _,ConnectionAction.SendLogout _ ->
                throw new IllegalStateException(action + " at a target");
        }
    }

    private void start(ConnectionTimer timer) {
        long delayMs = switch (timer) {
            case LOGOUT_REQUEST -> logoutWithinMs;
            case LOGIN, LOGOUT -> loginTimeoutMs; // a logout takes no longer than a login
            case CLEANUP -> phase.retainMs();
        };
        if (delayMs == 0) {
            happened(new ConnectionEvent.TimedOut(timer)); // no tasks are kept
            return;
        }
        timers.put(timer, transport.loop().schedule(
                () -> inLoop(() -> timedOut(timer, delayMs)), delayMs));
    }

    private void timedOut(ConnectionTimer timer, long delayMs) {
        if (timers.remove(timer) == null) {
            return; // cancelled on the way from one loop to another
        }
        if (timer == ConnectionTimer.LOGIN) {
            phase.refuse(LoginStatus.SERVICE_UNAVAILABLE, "login timeout");
        }
        end("no " + timer.name().toLowerCase(Locale.ROOT) + " within " + delayMs + " ms",
                new ConnectionEvent.TimedOut(timer));
    }

    /** Runs something on the event loop's thread, in its turn. Any thread. */
    private void later(Runnable what) {
        transport.loop().execute(() -> inLoop(what));
    }

    /** Like {@link #later}, but at once on that thread; a login that joins a session moves to the session's loop. */
    private void inLoop(Runnable what) {
        EventLoop loop = transport.loop();
        if (loop.inLoop()) {
            what.run();
        } else {
            loop.execute(() -> inLoop(what));
        }
    }

    private void cancel(ConnectionTimer timer) {
        EventLoop.Timer running = timers.remove(timer);
        if (running != null) {
            running.cancel();
        }
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length)
            throws ProtocolException {
        return phase.dataDestination(bhs, ahs, length);
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        phase.received(bhs, ahs, data);
    }

    @Override
    public void dataDigestError(Bhs bhs) throws ProtocolException { phase.dataDigestError(bhs); }

    @Override
    public void batchEnd() throws ProtocolException { phase.batchEnd(); }

    @Override
    public void closed(@Nullable IOException cause) {
        failure = cause;
        String why = reason != null ? reason : cause == null ? null : cause.getMessage();
        if (why != null) {
            warnings.warn(origin, "connection from " + peer() + " ("
                    + phase + ") ended: " + why);
        } else {
            LOG.log(System.Logger.Level.DEBUG, "connection from {0} ({1}) ended",
                    peer(), phase);
        }
        phase.closed(cause);
        transportOver = true; // pending output, for example a Reject, is not cut short
        happened(new ConnectionEvent.TransportLost());
        registry.remove(this);
    }

    private static String printable(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }
}
