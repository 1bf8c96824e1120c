package lunar.iscsi.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.session.ConnectionAction.CancelTimer;
import lunar.iscsi.session.ConnectionAction.Release;
import lunar.iscsi.session.ConnectionAction.StartTimer;
import lunar.iscsi.session.ConnectionAction.SuspendTasks;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ConnectionMachineTest {
    /** Every legal pair: from, event, to. What is not here must be refused. */
    private static final String TABLE = """
            FREE ConnectRequested XPT_WAIT
            FREE Accepted XPT_UP
            FREE TransportLost FREE
            XPT_WAIT ConnectFailed FREE
            XPT_WAIT TransportLost FREE
            XPT_WAIT SessionClosed FREE
            XPT_WAIT LOGIN FREE
            XPT_WAIT Connected IN_LOGIN
            XPT_UP LoginBegun IN_LOGIN
            XPT_UP TransportLost FREE
            XPT_UP SessionClosed FREE
            XPT_UP Reinstated FREE
            XPT_UP LOGIN FREE
            IN_LOGIN LoginSucceeded LOGGED_IN
            IN_LOGIN LoginFailed FREE
            IN_LOGIN TransportLost FREE
            IN_LOGIN SessionClosed FREE
            IN_LOGIN Reinstated FREE
            IN_LOGIN LOGIN FREE
            LOGGED_IN SessionClosed FREE
            LOGGED_IN Reinstated FREE
            LOGGED_IN LogoutBegun IN_LOGOUT
            LOGGED_IN LogoutAsked LOGOUT_REQUESTED
            LOGGED_IN LogoutDemanded LOGOUT_REQUESTED
            LOGGED_IN TransportLost CLEANUP_WAIT
            LOGGED_IN Dropped CLEANUP_WAIT
            LOGGED_IN ReinstatementFailed CLEANUP_WAIT
            LOGOUT_REQUESTED LogoutBegun IN_LOGOUT
            LOGOUT_REQUESTED LogoutAsked LOGOUT_REQUESTED
            LOGOUT_REQUESTED LogoutDemanded LOGOUT_REQUESTED
            LOGOUT_REQUESTED TransportLost CLEANUP_WAIT
            LOGOUT_REQUESTED Dropped CLEANUP_WAIT
            LOGOUT_REQUESTED ReinstatementFailed CLEANUP_WAIT
            LOGOUT_REQUESTED LOGOUT_REQUEST CLEANUP_WAIT
            LOGOUT_REQUESTED SessionClosed FREE
            LOGOUT_REQUESTED Reinstated FREE
            IN_LOGOUT LogoutSucceeded FREE
            IN_LOGOUT SessionClosed FREE
            IN_LOGOUT Reinstated FREE
            IN_LOGOUT LogoutAsked IN_LOGOUT
            IN_LOGOUT LogoutFailed CLEANUP_WAIT
            IN_LOGOUT TransportLost CLEANUP_WAIT
            IN_LOGOUT Dropped CLEANUP_WAIT
            IN_LOGOUT ReinstatementFailed CLEANUP_WAIT
            IN_LOGOUT LOGOUT CLEANUP_WAIT
            CLEANUP_WAIT CleanupBegun IN_CLEANUP
            CLEANUP_WAIT SessionClosed FREE
            CLEANUP_WAIT Reinstated FREE
            CLEANUP_WAIT CLEANUP FREE
            CLEANUP_WAIT TransportLost CLEANUP_WAIT
            IN_CLEANUP CleanupFailed CLEANUP_WAIT
            IN_CLEANUP CleanupSucceeded FREE
            IN_CLEANUP SessionClosed FREE
            IN_CLEANUP Reinstated FREE
            IN_CLEANUP TransportLost IN_CLEANUP
            """;

    @TestFactory
    List<DynamicTest> shouldGoWhereTheTableSaysAndRefuseAllElse() {
        Map<String, ConnectionState> table = new HashMap<>();
        TABLE.lines().map(line -> line.split(" ")).forEach(words -> table
                .put(words[0] + " " + words[1], ConnectionState.valueOf(words[2])));
        var tests = new ArrayList<DynamicTest>();
        for (var state : ConnectionState.values()) {
            for (var event : events()) {
                String pair = state + " " + name(event);
                var to = table.remove(pair);
                tests.add(DynamicTest.dynamicTest(pair, () -> {
                    if (to != null) {
                        assertThat(ConnectionMachine.step(state, event).state()).isEqualTo(to);
                    } else {
                        assertThatThrownBy(() -> ConnectionMachine.step(state, event))
                                .isInstanceOf(ProtocolException.class)
                                .hasMessageContaining(state.name())
                                .hasMessageContaining(name(event));
                    }
                }));
            }
        }
        assertThat(table).as("pairs that were never tried").isEmpty();
        return tests;
    }

    @Test
    void shouldRunExactlyTheTimerThatTheStateWaitsFor() throws ProtocolException {
        // A walk over all pairs: what is started on the way in is cancelled or has run out on the way out.
        for (var state : ConnectionState.values()) {
            for (var event : events()) {
                if (!legal(state, event)) {
                    continue;
                }
                // A state may be entered with or without LOGOUT_REQUEST running: the initiator has no such timer.
                var running = new TreeSet<>(timersOf(state));
                var step = ConnectionMachine.step(state, event);
                if (event instanceof ConnectionEvent.TimedOut(var timer)) {
                    running.remove(timer);
                }
                for (var action : step.actions()) {
                    switch (action) {
                        case StartTimer(var timer) -> running.add(timer);
                        case CancelTimer(var timer) -> running.remove(timer);
                        default -> {
                        }
                    }
                }
                var wanted = new TreeSet<>(timersOf(step.state()));
                if (event instanceof ConnectionEvent.LogoutAsked) {
                    wanted.remove(ConnectionTimer.LOGOUT_REQUEST);
                    running.remove(ConnectionTimer.LOGOUT_REQUEST);
                }
                assertThat(running).as("%s in %s", event, state).isEqualTo(wanted);
            }
        }
    }

    @Test
    void shouldKeepTasksOnlyForRecoveryAndReleaseThemOnTheWayToFree() throws ProtocolException {
        for (var state : ConnectionState.values()) {
            for (var event : events()) {
                if (!legal(state, event)) {
                    continue;
                }
                var step = ConnectionMachine.step(state, event);
                boolean toFree = step.state() == ConnectionState.FREE
                        && state != ConnectionState.FREE;
                boolean toCleanup = step.state() == ConnectionState.CLEANUP_WAIT
                        && state != ConnectionState.CLEANUP_WAIT
                        && state != ConnectionState.IN_CLEANUP;
                assertThat(step.actions().contains(new Release())).as("%s in %s", event, state)
                        .isEqualTo(toFree);
                assertThat(step.actions().contains(new SuspendTasks()))
                        .as("%s in %s", event, state).isEqualTo(toCleanup);
            }
        }
    }

    private static boolean legal(ConnectionState state, ConnectionEvent event) {
        return TABLE.contains(state + " " + name(event) + " ");
    }

    private static List<ConnectionTimer> timersOf(ConnectionState state) {
        return switch (state) {
            case FREE, LOGGED_IN, IN_CLEANUP -> List.of();
            case XPT_WAIT, XPT_UP, IN_LOGIN -> List.of(ConnectionTimer.LOGIN);
            case LOGOUT_REQUESTED -> List.of(ConnectionTimer.LOGOUT_REQUEST);
            case IN_LOGOUT -> List.of(ConnectionTimer.LOGOUT);
            case CLEANUP_WAIT -> List.of(ConnectionTimer.CLEANUP);
        };
    }

    private static List<ConnectionEvent> events() {
        var events = new ArrayList<ConnectionEvent>();
        for (var type : ConnectionEvent.class.getPermittedSubclasses()) {
            if (type == ConnectionEvent.TimedOut.class) {
                Arrays.stream(ConnectionTimer.values()).map(ConnectionEvent.TimedOut::new)
                        .forEach(events::add);
                continue;
            }
            try {
                events.add((ConnectionEvent) type.getDeclaredConstructor().newInstance());
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(type + " needs a line here", e);
            }
        }
        return events;
    }

    private static String name(ConnectionEvent event) {
        return event instanceof ConnectionEvent.TimedOut(var timer)
                ? timer.name()
                : event.getClass().getSimpleName();
    }
}
