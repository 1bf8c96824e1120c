package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that receives of a shared queue are reported even if the endpoint that has taken them is closed. */
class SharedReceiveQueueTest {
    private final ScriptedDevice device = new ScriptedDevice();
    private Side side;
    private SharedReceiveQueue shared;

    @BeforeEach
    void open() throws Exception {
        side = new Side(new RdmaDevice(device));
        shared = side.domain.createSharedReceiveQueue(4, 1);
        for (int i = 0; i < 3; i++) {
            shared.post(side.work.receive().add(side.pool.take()).context(i));
        }
    }

    @AfterEach
    void close() {
        side.channel.close();
        shared.close();
        side.close();
    }

    private Endpoint connect() throws RdmaException {
        Endpoint endpoint = side.channel
                .createEndpoint(side.options().withSharedReceives(shared), side);
        endpoint.connect(new InetSocketAddress("127.0.0.1", 1), new byte[0]);
        return endpoint;
    }

    @Test
    void shouldReportReceiveOfClosedEndpoint() throws Exception {
        Endpoint endpoint = connect();
        device.receive(device.ends.getFirst(), 5);
        endpoint.close();
        side.drain();
        assertThat(side.done).singleElement().satisfies(one -> {
            assertThat(one.endpoint()).isSameAs(endpoint);
            assertThat(one.operation()).isEqualTo(Operation.RECEIVE);
            assertThat(one.bytes()).isEqualTo(5);
            assertThat(one.context()).isZero();
        });
        assertThat(shared.posted()).isEqualTo(2);
    }

    @Test
    void shouldReportReceivesTakenWhileEndpointCloses() throws Exception {
        Endpoint endpoint = connect();
        ScriptedDevice.End end = device.ends.getFirst();
        end.beforeLastReceive = () -> device.receive(end, 1);
        end.whileClosing = () -> device.receive(end, 2);
        endpoint.close();
        side.drain();
        assertThat(side.done).extracting(Side.Done::bytes).containsExactly(1, 2);
        assertThat(side.done).allMatch(one -> one.endpoint() == endpoint);
        assertThat(shared.posted()).isEqualTo(1);
    }

    @Test
    void shouldDistinguishSuccessiveEndpoints() throws Exception {
        Endpoint first = connect();
        device.receive(device.ends.getFirst(), 1);
        first.close();
        Endpoint second = connect();
        device.receive(device.ends.get(1), 2);
        side.drain();
        assertThat(side.done).extracting(Side.Done::endpoint).containsExactly(first, second);
    }

    @Test
    void shouldReleaseUnpolledReceives() throws Exception {
        connect();
        device.receive(device.ends.getFirst(), 5);
        side.channel.close();
        assertThat(shared.posted()).isEqualTo(2);
    }
}
