package lunar.iscsi.session;

import static lunar.iscsi.session.ConnectionState.CLEANUP_WAIT;
import static lunar.iscsi.session.ConnectionState.FREE;
import static lunar.iscsi.session.ConnectionState.IN_CLEANUP;
import static lunar.iscsi.session.ConnectionState.IN_LOGIN;
import static lunar.iscsi.session.ConnectionState.IN_LOGOUT;
import static lunar.iscsi.session.ConnectionState.LOGGED_IN;
import static lunar.iscsi.session.ConnectionState.LOGOUT_REQUESTED;
import static lunar.iscsi.session.ConnectionState.XPT_UP;
import static lunar.iscsi.session.ConnectionState.XPT_WAIT;
import static lunar.iscsi.session.ConnectionTimer.CLEANUP;
import static lunar.iscsi.session.ConnectionTimer.LOGIN;
import static lunar.iscsi.session.ConnectionTimer.LOGOUT;
import static lunar.iscsi.session.ConnectionTimer.LOGOUT_REQUEST;

import lunar.iscsi.ProtocolException;
import lunar.iscsi.session.ConnectionAction.AskForLogout;
import lunar.iscsi.session.ConnectionAction.BeginLogin;
import lunar.iscsi.session.ConnectionAction.CancelTimer;
import lunar.iscsi.session.ConnectionAction.CloseTransport;
import lunar.iscsi.session.ConnectionAction.EnterFullFeature;
import lunar.iscsi.session.ConnectionAction.OpenTransport;
import lunar.iscsi.session.ConnectionAction.Release;
import lunar.iscsi.session.ConnectionAction.SendLogout;
import lunar.iscsi.session.ConnectionAction.StartTimer;
import lunar.iscsi.session.ConnectionAction.StopCommands;
import lunar.iscsi.session.ConnectionAction.SuspendTasks;
import lunar.iscsi.session.ConnectionEvent.Accepted;
import lunar.iscsi.session.ConnectionEvent.CleanupBegun;
import lunar.iscsi.session.ConnectionEvent.CleanupFailed;
import lunar.iscsi.session.ConnectionEvent.CleanupSucceeded;
import lunar.iscsi.session.ConnectionEvent.ConnectFailed;
import lunar.iscsi.session.ConnectionEvent.ConnectRequested;
import lunar.iscsi.session.ConnectionEvent.Connected;
import lunar.iscsi.session.ConnectionEvent.Dropped;
import lunar.iscsi.session.ConnectionEvent.LoginBegun;
import lunar.iscsi.session.ConnectionEvent.LoginFailed;
import lunar.iscsi.session.ConnectionEvent.LoginSucceeded;
import lunar.iscsi.session.ConnectionEvent.LogoutAsked;
import lunar.iscsi.session.ConnectionEvent.LogoutBegun;
import lunar.iscsi.session.ConnectionEvent.LogoutDemanded;
import lunar.iscsi.session.ConnectionEvent.LogoutFailed;
import lunar.iscsi.session.ConnectionEvent.LogoutSucceeded;
import lunar.iscsi.session.ConnectionEvent.Reinstated;
import lunar.iscsi.session.ConnectionEvent.ReinstatementFailed;
import lunar.iscsi.session.ConnectionEvent.SessionClosed;
import lunar.iscsi.session.ConnectionEvent.TimedOut;
import lunar.iscsi.session.ConnectionEvent.TransportLost;

/**
 * State machine of a connection at either end, as a pure function (RFC 7143 sections 8.1 and 8.2). Each arm ends with
 * the number of the RFC's transition; {@link ConnectionState} lists them all.
 *
 * <p>An event that the RFC does not cover is ignored: the loss of a transport that the machine itself had closed, which
 * is reported afterwards.
 */
public final class ConnectionMachine {
    private ConnectionMachine() {}

    /**
     * The step that an event leads to.
     *
     * @throws ProtocolException if the event cannot happen in this state
     */
    public static Step<ConnectionState, ConnectionAction> step(ConnectionState state,
            ConnectionEvent event) throws ProtocolException {
        return switch (event) {
            case ConnectRequested() when state == FREE ->
                Step.to(XPT_WAIT, new StartTimer(LOGIN), new OpenTransport()); // T1
            case ConnectFailed() when state == XPT_WAIT -> free(new CancelTimer(LOGIN)); // T2
            case Connected() when state == XPT_WAIT -> Step.to(IN_LOGIN, new BeginLogin()); // T4
            case Accepted() when state == FREE -> Step.to(XPT_UP, new StartTimer(LOGIN)); // T3
            case LoginBegun() when state == XPT_UP -> Step.to(IN_LOGIN); // T4
            case LoginSucceeded() when state == IN_LOGIN ->
                Step.to(LOGGED_IN, new CancelTimer(LOGIN), new EnterFullFeature()); // T5
            case LoginFailed() when state == IN_LOGIN -> free(new CancelTimer(LOGIN)); // T7

            case LogoutAsked() when state == LOGGED_IN ->
                Step.to(LOGOUT_REQUESTED, new StopCommands(), new SendLogout()); // T11
            case LogoutAsked() when state == LOGOUT_REQUESTED -> Step.to(LOGOUT_REQUESTED); // T12
            case LogoutAsked() when state == IN_LOGOUT -> Step.to(IN_LOGOUT); // T14
            case LogoutDemanded() when state == LOGGED_IN -> Step.to(LOGOUT_REQUESTED,
                    new AskForLogout(), new StartTimer(LOGOUT_REQUEST)); // T11
            case LogoutDemanded() when state == LOGOUT_REQUESTED ->
                Step.to(LOGOUT_REQUESTED, new AskForLogout()); // T12
            case LogoutBegun() when state == LOGGED_IN ->
                Step.to(IN_LOGOUT, new StopCommands(), new StartTimer(LOGOUT)); // T9
            case LogoutBegun() when state == LOGOUT_REQUESTED -> Step.to(IN_LOGOUT,
                    new CancelTimer(LOGOUT_REQUEST), new StopCommands(), new StartTimer(LOGOUT)); // T10
            case LogoutSucceeded() when state == IN_LOGOUT -> free(new CancelTimer(LOGOUT)); // T13
            case LogoutFailed() when state == IN_LOGOUT -> fail(state); // T17

            case CleanupBegun() when state == CLEANUP_WAIT ->
                Step.to(IN_CLEANUP, new CancelTimer(CLEANUP)); // M2
            case CleanupFailed() when state == IN_CLEANUP ->
                Step.to(CLEANUP_WAIT, new StartTimer(CLEANUP)); // M3
            case CleanupSucceeded() when state == IN_CLEANUP -> Step.to(FREE, new Release()); // M4

            case TransportLost() -> transportLost(state);
            case Dropped(),ReinstatementFailed() -> switch (state) {
                case LOGGED_IN, LOGOUT_REQUESTED, IN_LOGOUT -> fail(state); // T15, T16, T17
                default -> throw unexpected(state, event);
            };
            case SessionClosed() -> close(state, event);
            case Reinstated() when state != XPT_WAIT -> close(state, event);
            case TimedOut(var timer) -> timedOut(state, timer);

            case ConnectRequested _,ConnectFailed _,Connected _,Accepted _,LoginBegun _,LoginSucceeded _,LoginFailed _,LogoutAsked _,LogoutDemanded _,LogoutBegun _,LogoutSucceeded _,LogoutFailed _,CleanupBegun _,CleanupFailed _,CleanupSucceeded _,Reinstated _ ->
                throw unexpected(state, event);
        };
    }

    private static Step<ConnectionState, ConnectionAction> transportLost(ConnectionState state) {
        return switch (state) {
            case XPT_WAIT, XPT_UP, IN_LOGIN -> free(new CancelTimer(LOGIN)); // T2, T6, T7
            case LOGGED_IN, LOGOUT_REQUESTED, IN_LOGOUT -> fail(state); // T15, T16, T17
            case FREE, CLEANUP_WAIT, IN_CLEANUP -> Step.to(state); // closed by ourselves before
        };
    }

    private static Step<ConnectionState, ConnectionAction> close(ConnectionState state,
            ConnectionEvent event) throws ProtocolException {
        return switch (state) {
            case XPT_WAIT, XPT_UP, IN_LOGIN -> free(new CancelTimer(LOGIN)); // T2, T6, T7
            case LOGGED_IN -> Step.to(FREE, new StopCommands(), new CloseTransport(),
                    new Release()); // T8
            case IN_LOGOUT -> free(new CancelTimer(LOGOUT)); // T13
            case LOGOUT_REQUESTED -> free(new CancelTimer(LOGOUT_REQUEST)); // T18
            case CLEANUP_WAIT -> Step.to(FREE, new CancelTimer(CLEANUP), new Release()); // M1
            case IN_CLEANUP -> Step.to(FREE, new Release()); // M4
            case FREE -> throw unexpected(state, event);
        };
    }

    private static Step<ConnectionState, ConnectionAction> timedOut(ConnectionState state,
            ConnectionTimer timer) throws ProtocolException {
        boolean due = switch (timer) {
            case LOGIN -> state == XPT_WAIT || state == XPT_UP || state == IN_LOGIN;
            case LOGOUT_REQUEST -> state == LOGOUT_REQUESTED;
            case LOGOUT -> state == IN_LOGOUT;
            case CLEANUP -> state == CLEANUP_WAIT;
        };
        if (!due) {
            throw unexpected(state, new TimedOut(timer));
        }
        return switch (timer) {
            case LOGIN -> Step.to(FREE, new CloseTransport(), new Release()); // T2, T6, T7
            case LOGOUT_REQUEST, LOGOUT -> fail(state); // T16, T17
            case CLEANUP -> Step.to(FREE, new Release()); // M1
        };
    }

    private static Step<ConnectionState, ConnectionAction> free(CancelTimer cancel) {
        return Step.to(FREE, cancel, new CloseTransport(), new Release());
    }

    private static Step<ConnectionState, ConnectionAction> fail(ConnectionState from) {
        return switch (from) {
            case LOGOUT_REQUESTED -> Step.to(CLEANUP_WAIT, new CancelTimer(LOGOUT_REQUEST),
                    new StopCommands(), new CloseTransport(), new SuspendTasks(),
                    new StartTimer(CLEANUP));
            case IN_LOGOUT -> Step.to(CLEANUP_WAIT, new CancelTimer(LOGOUT),
                    new CloseTransport(), new SuspendTasks(), new StartTimer(CLEANUP));
            default -> Step.to(CLEANUP_WAIT, new StopCommands(), new CloseTransport(),
                    new SuspendTasks(), new StartTimer(CLEANUP));
        };
    }

    private static ProtocolException unexpected(ConnectionState state, ConnectionEvent event) {
        return new ProtocolException(event + " in " + state + " (RFC 7143 sections 8.1 and 8.2)");
    }
}
