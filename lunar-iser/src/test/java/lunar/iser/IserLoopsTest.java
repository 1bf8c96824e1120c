package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport.Release;
import lunar.rdma.RdmaUnavailableException;
import org.junit.jupiter.api.Test;

/** Tests {@link IserLoops} over libfabric's tcp: Hello, moves between event loops, selection of the device. */
class IserLoopsTest {
    private static final MemorySegment NONE = MemorySegment.NULL;

    @Test
    void shouldExchangeHelloBeforePdus() throws Exception {
        try (var pair = TestPair.withHello()) {
            TestEnd initiator = pair.connect();
            TestEnd target = TestPair.begin(pair.accepted(), TestPair.parameters(0, true));
            TestEnd _ = TestPair.begin(initiator, TestPair.parameters(0, true));
            initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), NONE,
                    Release.NOTHING);
            initiator.transport().flush();
            assertThat(target.next(NopOut.OPCODE).bhs().itt()).isEqualTo(1);
            assertThat(initiator.isClosed()).isFalse();
        }
    }

    @Test
    void shouldEndAConnectionThatOmitsHello() throws Exception {
        try (var pair = TestPair.create()) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted(), TestPair.parameters(0, true));
            initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), NONE,
                    Release.NOTHING);
            initiator.transport().flush();
            assertThat(target.end()).hasValueSatisfying(
                    why -> assertThat(why).hasMessageContaining("PDU received before iSER Hello"));
        }
    }

    @Test
    void shouldDeliverOnTheLoopThatAConnectionWasMovedTo() throws Exception {
        try (var pair = TestPair.withLoops(2)) {
            TestEnd first = TestPair.begin(pair.connect());
            TestEnd other = TestPair.begin(pair.accepted());
            TestEnd second = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            EventLoop loop = first.transport().loop();
            assertThat(second.transport().loop()).isNotEqualTo(loop);
            var moved = new CompletableFuture<Boolean>();
            boolean _ = second.inLoop(transport -> {
                transport.moveTo(loop, () -> moved.complete(loop.inLoop()));
                return true;
            });
            assertThat(moved.get(60, TimeUnit.SECONDS)).isTrue();
            second.before = () -> assertThat(loop.inLoop()).isTrue();
            second.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), NONE,
                    Release.NOTHING);
            second.transport().flush();
            var _ = target.next(NopOut.OPCODE);
            target.transport().send(TestPair.pdu(NopIn.OPCODE, 1).bytes(), NONE,
                    Release.NOTHING);
            target.transport().flush();
            assertThat(second.next(NopIn.OPCODE).bhs().itt()).isEqualTo(1);
            target.transport().abort();
            var _ = second.end();
            assertThat(other.isClosed()).isFalse();
        }
    }

    @Test
    void shouldDeliverNothingOnTheLoopThatAConnectionWasMovedFrom() throws Exception {
        try (var pair = TestPair.withLoops(2)) {
            TestEnd first = TestPair.begin(pair.connect());
            TestEnd _ = TestPair.begin(pair.accepted());
            int ofFirst = pair.initiatorLoops().messageBuffersInUse();
            TestEnd second = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            EventLoop before = second.transport().loop();
            EventLoop after = first.transport().loop();
            boolean _ = second.inLoop(transport -> {
                transport.reading(false);
                return true;
            });
            for (int i = 0; i < 3; i++) {
                target.transport().send(TestPair.pdu(NopIn.OPCODE, i).bytes(), NONE,
                        Release.NOTHING);
            }
            target.transport().close();
            var _ = target.end();
            // The endpoint is closed; only its undelivered arrivals are left.
            IserTransportTest.await(
                    () -> pair.initiatorLoops().messageBuffersInUse() == ofFirst + 3);

            var go = new CountDownLatch(1);
            after.execute(() -> awaitQuietly(go));
            second.before = () -> assertThat(after.inLoop()).isTrue();
            boolean _ = second.inLoop(transport -> {
                transport.reading(true); // schedules a delivery on this loop
                transport.moveTo(after, () -> {});
                return true;
            });
            var turned = new CompletableFuture<Boolean>();
            before.execute(() -> turned.complete(true));
            assertThat(turned.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(second.isClosed()).isFalse();
            go.countDown();
            for (int i = 0; i < 3; i++) {
                assertThat(second.next(NopIn.OPCODE).bhs().itt()).isEqualTo(i);
            }
            assertThat(second.end()).isEmpty();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            boolean _ = latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldSelectTheDeviceThatOwnsTheAddress() throws Exception {
        var device = TestPair.device();
        var choice = new DeviceChoice(Optional.empty(), List.of(device));
        InetAddress loopback = InetAddress.getLoopbackAddress();
        assertThat(choice.forLocal(loopback)).isEqualTo(device);
        assertThat(choice.forRemote(loopback)).isEqualTo(device);
        assertThat(choice.forLocal(InetAddress.getByName("0.0.0.0"))).isEqualTo(device);
        assertThatThrownBy(() -> choice.forLocal(InetAddress.getByName("192.0.2.1")))
                .isInstanceOf(RdmaUnavailableException.class)
                .hasMessageContaining("no RDMA device has the address 192.0.2.1");
    }

    @Test
    void shouldReportAnUnknownDevice() {
        assertThatThrownBy(() -> new DeviceChoice(Optional.of("verbs:none")))
                .isInstanceOf(RdmaUnavailableException.class)
                .hasMessageContaining("no RDMA device 'verbs:none'");
    }
}
