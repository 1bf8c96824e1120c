package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when a wait arms the completion queues: that is a system call (verbs), or has peers write to a socket (shm). */
class EventChannelTest {
    private final ScriptedDevice device = new ScriptedDevice();
    private Side side;
    private SharedReceiveQueue shared;

    @BeforeEach
    void open() throws Exception {
        side = new Side(new RdmaDevice(device));
        shared = side.domain.createSharedReceiveQueue(4, 1);
        shared.post(side.work.receive().add(side.pool.take()));
        Endpoint _ = side.channel.createEndpoint(side.options().withSharedReceives(shared), side);
    }

    @AfterEach
    void close() {
        side.channel.close();
        shared.close();
        side.close();
    }

    @Test
    void shouldNotArmQueueThatIsCheapToPollAndHasCompletions() throws Exception {
        device.isCheap = true;
        device.receive(device.ends.getFirst(), 8);
        side.channel.await(1);
        assertThat(device.arms).isZero();
        side.drain();
        assertThat(side.done).singleElement()
                .satisfies(one -> assertThat(one.bytes()).isEqualTo(8));
    }

    @Test
    void shouldArmQueueThatIsExpensiveToPoll() throws Exception {
        device.receive(device.ends.getFirst(), 8);
        side.channel.await(1);
        assertThat(device.arms).isEqualTo(1);
        side.drain();
        assertThat(side.done).singleElement()
                .satisfies(one -> assertThat(one.bytes()).isEqualTo(8));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldArmQueueWithoutCompletions(boolean isCheap) throws Exception {
        device.isCheap = isCheap;
        side.channel.await(1);
        assertThat(device.arms).isEqualTo(1);
    }
}
