package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.spi.Transport.Release;
import lunar.rdma.CompletionQueue;
import lunar.rdma.ConnectionException;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointHandler;
import lunar.rdma.EndpointOptions;
import lunar.rdma.EventChannel;
import org.junit.jupiter.api.Test;

/** Tests connection requests that a portal cannot accept. */
class IserListenerTest {
    /** Some less than the time after which the listener gives up a connection that is pending. */
    private static final long PENDING_NS = 10_000_000_000L;

    private final HoldingDevice targetDevice = HoldingDevice.over(TestPair.device());

    /** Checks that the target still works: a connection is established and carries a PDU. */
    private static void expectConnection(TestPair pair) throws Exception {
        TestEnd initiator = TestPair.begin(pair.connect());
        TestEnd target = TestPair.begin(pair.accepted());
        initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), MemorySegment.NULL,
                Release.NOTHING);
        initiator.transport().flush();
        var _ = target.next(NopOut.OPCODE);
    }

    @Test
    void shouldRejectARequestIfNoEndpointCanBeCreated() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device())) {
            targetDevice.full(true);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(pair::connect).isInstanceOf(ConnectException.class);
            }
            targetDevice.full(false);
            expectConnection(pair);
        }
    }

    @Test
    void shouldRejectARequestWhileTooManyConnectionsArePending() throws Exception {
        for (int tries = 1; !isExcessRejected(); tries++) {
            assertThat(tries).isLessThan(5);
        }
    }

    /** Returns false if all took so long that connections may not be pending any longer. */
    private boolean isExcessRejected() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device());
                var domain = TestPair.device().open();
                var channel = domain.openChannel()) {
            CompletionQueue queue = channel.createCompletionQueue(1024);
            var options = EndpointOptions.of(queue).withDepth(1, 1).withConnectTimeout(60_000);
            var peers = new Peers();
            targetDevice.stall(true);
            long startNs = System.nanoTime();
            BooleanSupplier isLate = () -> System.nanoTime() - startNs > PENDING_NS;
            for (int i = 0; i < IserListener.MAX_PENDING; i++) {
                channel.createEndpoint(options, peers).connect(pair.portal(), new byte[0]);
                channel.poll();
            }
            runUntil(channel, () -> targetDevice.stalled() == IserListener.MAX_PENDING
                    || isLate.getAsBoolean());
            assertThat(peers.failed.isEmpty() || isLate.getAsBoolean()).isTrue();
            Endpoint excess = channel.createEndpoint(options, peers);
            excess.connect(pair.portal(), new byte[0]);
            runUntil(channel, () -> !peers.failed.isEmpty() || isLate.getAsBoolean());
            if (isLate.getAsBoolean()) {
                return false;
            }
            assertThat(peers.failed).containsExactly(excess);

            targetDevice.stall(false);
            runUntil(channel, () -> peers.established == IserListener.MAX_PENDING);
            for (int i = 0; i < IserListener.MAX_PENDING; i++) {
                assertThat(pair.accepted()).isNotNull();
            }
            expectConnection(pair);
            return true;
        }
    }

    private static void runUntil(EventChannel channel, BooleanSupplier condition)
            throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            channel.await(10);
        }
    }

    /** Peers that connect on the thread of the test. */
    private static final class Peers implements EndpointHandler {
        private final List<Endpoint> failed = new ArrayList<>();
        private int established;

        @Override
        public void established(Endpoint endpoint, byte[] privateData) { established++; }

        @Override
        public void failed(Endpoint endpoint, ConnectionException cause) { failed.add(endpoint); }

        @Override
        public void disconnected(Endpoint endpoint) {}
    }
}
