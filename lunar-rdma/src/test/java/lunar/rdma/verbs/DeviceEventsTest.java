package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which connections are notified of an event of a device. */
class DeviceEventsTest {
    private static final long PAIR = 0x1000;
    private static final long OTHER_PAIR = 0x2000;
    private static final long QUEUE = 0x3000;

    private final Queue<Event> waiting = new ArrayDeque<>();
    private int acknowledged;
    private final DeviceEvents events = new DeviceEvents(new Script(), -1);
    private final Recorder first = new Recorder(QUEUE);
    private final Recorder second = new Recorder(0);

    private static final class Recorder implements DeviceEvents.Owner {
        private final long queue;
        private final List<Integer> types = new ArrayList<>();

        Recorder(long queue) { this.queue = queue; }

        @Override
        public void deviceEvent(int type) { types.add(type); }

        @Override
        public boolean uses(long other) { return other == queue; }
    }

    /** An event to read: its type and element. */
    private record Event(int type, long element) {}

    private final class Script implements DeviceEvents.Source {
        @Override
        public boolean next(long event) {
            Event next = waiting.poll();
            if (next == null) {
                return false;
            }
            MemorySegment struct = NativeLibrary.at(event, ObjectLayouts.ASYNC_EVENT.byteSize());
            struct.set(JAVA_INT, ObjectLayouts.ASYNC_EVENT_TYPE, next.type);
            struct.set(JAVA_LONG, ObjectLayouts.ASYNC_EVENT_ELEMENT, next.element);
            return true;
        }

        @Override
        public void acknowledge(long event) { acknowledged++; }
    }

    @BeforeEach
    void open() {
        events.put(PAIR, first);
        events.put(OTHER_PAIR, second);
    }

    private void read(Event... all) throws Exception {
        waiting.addAll(List.of(all));
        events.read();
        assertThat(acknowledged).isEqualTo(all.length);
    }

    @Test
    void shouldReportFailureOfQueuePairToItsOwner() throws Exception {
        read(new Event(Constants.IBV_EVENT_QP_ACCESS_ERR, PAIR));
        assertThat(first.types).containsExactly(Constants.IBV_EVENT_QP_ACCESS_ERR);
        assertThat(second.types).isEmpty();
    }

    @Test
    void shouldReportFailureOfCompletionQueueToItsUsers() throws Exception {
        read(new Event(Constants.IBV_EVENT_CQ_ERR, QUEUE),
                new Event(Constants.IBV_EVENT_PORT_ERR, 1));
        assertThat(first.types).containsExactly(Constants.IBV_EVENT_CQ_ERR);
        assertThat(second.types).isEmpty();
    }

    @Test
    void shouldReportFailureOfDeviceToAllConnections() throws Exception {
        read(new Event(Constants.IBV_EVENT_DEVICE_FATAL, 0));
        assertThat(first.types).containsExactly(Constants.IBV_EVENT_DEVICE_FATAL);
        assertThat(second.types).containsExactly(Constants.IBV_EVENT_DEVICE_FATAL);
    }

    @Test
    void shouldIgnoreEventsOfRemovedQueuePair() throws Exception {
        events.remove(PAIR);
        read(new Event(Constants.IBV_EVENT_QP_LAST_WQE_REACHED, PAIR));
        assertThat(first.types).isEmpty();
    }
}
