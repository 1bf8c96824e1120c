package lunar.iscsi.session;

import static lunar.iscsi.session.SessionState.ACTIVE;
import static lunar.iscsi.session.SessionState.FAILED;
import static lunar.iscsi.session.SessionState.FREE;
import static lunar.iscsi.session.SessionState.IN_CONTINUE;
import static lunar.iscsi.session.SessionState.LOGGED_IN;

import lunar.iscsi.ProtocolException;
import lunar.iscsi.session.SessionAction.CancelTimer;
import lunar.iscsi.session.SessionAction.Publish;
import lunar.iscsi.session.SessionAction.Release;
import lunar.iscsi.session.SessionAction.Resume;
import lunar.iscsi.session.SessionAction.StartTimer;
import lunar.iscsi.session.SessionAction.Suspend;
import lunar.iscsi.session.SessionEvent.Closed;
import lunar.iscsi.session.SessionEvent.ConnectionLost;
import lunar.iscsi.session.SessionEvent.LoginBegun;
import lunar.iscsi.session.SessionEvent.LoginFailed;
import lunar.iscsi.session.SessionEvent.LoginSucceeded;
import lunar.iscsi.session.SessionEvent.Reinstated;
import lunar.iscsi.session.SessionEvent.TimedOut;

/**
 * State machine of a session at either end, as a pure function (RFC 7143 section 8.3). Each arm ends with the number of
 * the RFC's transition; {@link SessionState} lists them all.
 */
public final class SessionMachine {
    private SessionMachine() {}

    /**
     * The step that an event leads to.
     *
     * @throws ProtocolException if the event cannot happen in this state
     */
    public static Step<SessionState, SessionAction> step(SessionState state, SessionEvent event)
            throws ProtocolException {
        return switch (event) {
            case LoginBegun() -> switch (state) {
                case FREE -> Step.to(ACTIVE); // N1
                case FAILED -> Step.to(IN_CONTINUE, new CancelTimer()); // N7
                case LOGGED_IN, IN_CONTINUE -> Step.to(state); // one connection more
                case ACTIVE -> throw unexpected(state, event); // no TSIH is known to anyone yet
            };
            case LoginSucceeded() -> switch (state) {
                case FREE, ACTIVE -> Step.to(LOGGED_IN, new Publish()); // N1, N2
                case FAILED -> Step.to(LOGGED_IN, new CancelTimer(), new Resume()); // N4
                case IN_CONTINUE -> Step.to(LOGGED_IN, new Resume()); // N10
                case LOGGED_IN -> Step.to(state); // one connection more
            };
            case LoginFailed(int othersCount) -> switch (state) {
                case ACTIVE -> Step.to(FREE, new Release()); // N9
                case IN_CONTINUE -> othersCount > 0
                        ? Step.to(state)
                        : Step.to(FAILED, new StartTimer()); // N8
                case LOGGED_IN -> Step.to(state); // the others continue
                case FREE, FAILED -> throw unexpected(state, event);
            };
            case ConnectionLost(int othersCount) when state == LOGGED_IN ->
                othersCount > 0
                        ? Step.to(state)
                        : Step.to(FAILED, new Suspend(), new StartTimer()); // N5
            case Closed() when state == LOGGED_IN -> Step.to(FREE, new Release()); // N3
            case Reinstated() -> switch (state) {
                case ACTIVE, LOGGED_IN, IN_CONTINUE -> Step.to(FREE, new Release()); // N9, N3, N11
                case FAILED -> Step.to(FREE, new CancelTimer(), new Release()); // N6
                case FREE -> throw unexpected(state, event);
            };
            case TimedOut() when state == FAILED -> Step.to(FREE, new Release()); // N6
            case ConnectionLost _,Closed _,TimedOut _ -> throw unexpected(state, event);
        };
    }

    private static ProtocolException unexpected(SessionState state, SessionEvent event) {
        return new ProtocolException(event + " in " + state + " (RFC 7143 section 8.3)");
    }
}
