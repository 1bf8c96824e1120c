package lunar.iscsi.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.session.SessionAction.CancelTimer;
import lunar.iscsi.session.SessionAction.Publish;
import lunar.iscsi.session.SessionAction.Release;
import lunar.iscsi.session.SessionAction.Resume;
import lunar.iscsi.session.SessionAction.StartTimer;
import lunar.iscsi.session.SessionAction.Suspend;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class SessionMachineTest {
    private static final Map<String, SessionEvent> EVENTS = Map.of(
            "LoginBegun", new SessionEvent.LoginBegun(),
            "LoginSucceeded", new SessionEvent.LoginSucceeded(),
            "LastLoginFailed", new SessionEvent.LoginFailed(0),
            "LoginFailed", new SessionEvent.LoginFailed(2),
            "LastConnectionLost", new SessionEvent.ConnectionLost(0),
            "ConnectionLost", new SessionEvent.ConnectionLost(1),
            "Closed", new SessionEvent.Closed(),
            "Reinstated", new SessionEvent.Reinstated(),
            "TimedOut", new SessionEvent.TimedOut());

    private final Map<String, Step<SessionState, SessionAction>> table = new HashMap<>();

    SessionMachineTest() {
        legal("FREE LoginBegun", SessionState.ACTIVE); // N1
        legal("FREE LoginSucceeded", SessionState.LOGGED_IN, new Publish()); // N1
        legal("ACTIVE LoginSucceeded", SessionState.LOGGED_IN, new Publish()); // N2
        legal("ACTIVE LastLoginFailed", SessionState.FREE, new Release()); // N9
        legal("ACTIVE LoginFailed", SessionState.FREE, new Release()); // N9
        legal("ACTIVE Reinstated", SessionState.FREE, new Release()); // N9
        legal("LOGGED_IN LoginBegun", SessionState.LOGGED_IN);
        legal("LOGGED_IN LoginSucceeded", SessionState.LOGGED_IN);
        legal("LOGGED_IN LoginFailed", SessionState.LOGGED_IN);
        legal("LOGGED_IN LastLoginFailed", SessionState.LOGGED_IN);
        legal("LOGGED_IN ConnectionLost", SessionState.LOGGED_IN);
        legal("LOGGED_IN LastConnectionLost", SessionState.FAILED, new Suspend(),
                new StartTimer()); // N5
        legal("LOGGED_IN Closed", SessionState.FREE, new Release()); // N3
        legal("LOGGED_IN Reinstated", SessionState.FREE, new Release()); // N3
        legal("FAILED LoginSucceeded", SessionState.LOGGED_IN, new CancelTimer(), new Resume()); // N4
        legal("FAILED Reinstated", SessionState.FREE, new CancelTimer(), new Release()); // N6
        legal("FAILED TimedOut", SessionState.FREE, new Release()); // N6
        legal("FAILED LoginBegun", SessionState.IN_CONTINUE, new CancelTimer()); // N7
        legal("IN_CONTINUE LoginBegun", SessionState.IN_CONTINUE);
        legal("IN_CONTINUE LoginFailed", SessionState.IN_CONTINUE);
        legal("IN_CONTINUE LastLoginFailed", SessionState.FAILED, new StartTimer()); // N8
        legal("IN_CONTINUE LoginSucceeded", SessionState.LOGGED_IN, new Resume()); // N10
        legal("IN_CONTINUE Reinstated", SessionState.FREE, new Release()); // N11
    }

    @TestFactory
    List<DynamicTest> shouldGoWhereTheTableSaysAndRefuseAllElse() {
        var tests = new ArrayList<DynamicTest>();
        for (var state : SessionState.values()) {
            EVENTS.forEach((name, event) -> {
                var wanted = table.remove(state + " " + name);
                tests.add(DynamicTest.dynamicTest(state + " " + name, () -> {
                    if (wanted != null) {
                        assertThat(SessionMachine.step(state, event)).isEqualTo(wanted);
                    } else {
                        assertThatThrownBy(() -> SessionMachine.step(state, event))
                                .isInstanceOf(ProtocolException.class)
                                .hasMessageContaining(event + " in " + state);
                    }
                }));
            });
        }
        assertThat(table).as("pairs that were never tried").isEmpty();
        assertThat(EVENTS.values().stream().map(Object::getClass).distinct())
                .hasSize(SessionEvent.class.getPermittedSubclasses().length);
        return tests;
    }

    private void legal(String pair, SessionState to, SessionAction... actions) {
        table.put(pair, new Step<>(to, List.of(actions)));
    }
}
