package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class TaskStateTest {
    @Test
    void shouldRejectOtherTransitions() {
        var transitions = new ArrayList<String>();
        for (TaskState from : TaskState.values()) {
            for (TaskState to : TaskState.values()) {
                if (from.mayBecome(to)) {
                    transitions.add(from + " " + to);
                }
            }
        }
        assertThat(transitions).containsExactly("IDLE HELD", "IDLE RECEIVING", "HELD RECEIVING",
                "HELD ENDED", "RECEIVING WAITING", "RECEIVING EXECUTING", "RECEIVING COMPLETED",
                "WAITING EXECUTING", "WAITING COMPLETED", "EXECUTING LEFT_BEHIND",
                "EXECUTING COMPLETED", "LEFT_BEHIND ENDED", "COMPLETED ENDED", "ENDED GONE",
                "GONE IDLE");
    }

    @Test
    void shouldEndFromEveryStateOfACommand() {
        for (TaskState from : EnumSet.complementOf(EnumSet.of(TaskState.IDLE))) {
            var reached = EnumSet.of(from);
            var open = new ArrayList<>(List.of(from));
            while (!open.isEmpty()) {
                TaskState at = open.removeLast();
                for (TaskState next : TaskState.values()) {
                    if (at.mayBecome(next) && reached.add(next)) {
                        open.add(next);
                    }
                }
            }
            assertThat(reached).as("from %s", from).contains(TaskState.GONE, TaskState.IDLE);
        }
    }
}
