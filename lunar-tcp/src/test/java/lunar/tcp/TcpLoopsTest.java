package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.TransportProvider.Listener;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.Test;

class TcpLoopsTest {
    private static Network echoing() {
        return new Network(1, Network.LONG, transport -> new Endpoint(transport, Endpoint::echo));
    }

    @Test
    void shouldBeFoundByItsScheme() {
        assertThat(ServiceLoader.load(TransportProvider.class))
                .extracting(TransportProvider::scheme)
                .contains("iscsi");
    }

    @Test
    void shouldFailToConnectIfNothingListens() throws Exception {
        // Bound and not listening: a free port could be taken by another process, or be that of the connection itself.
        try (SocketChannel silent = SocketChannel.open().bind(Endpoint.ANY_PORT);
                var network = echoing()) {
            var nobody = (InetSocketAddress) silent.getLocalAddress();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> network.loops.connect(nobody, 10_000, Endpoint::new));
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> network.loops.connect(
                    InetSocketAddress.createUnresolved("host.invalid", 3260), 10_000,
                    Endpoint::new));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> network.loops.connect(nobody, 0, Endpoint::new));
            network.connect().ping(1);
        }
    }

    @Test
    void shouldGiveUpConnectingAfterTheTimeout() throws Exception {
        // A full accept queue: the kernel does not answer further connections.
        try (var full = new ServerSocket(0, 1, Endpoint.ANY_PORT.getAddress());
                var network = echoing()) {
            var portal = (InetSocketAddress) full.getLocalSocketAddress();
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> {
                for (int i = 0; i < 20; i++) {
                    Transport _ = network.loops.connect(portal, 200, Endpoint::new);
                }
            });
        }
    }

    @Test
    void shouldLeaveNothingBehindWhenTheLoopIsTooBusyToConnect() throws Exception {
        List<Endpoint> made = new ArrayList<>();
        try (var target = echoing(); var busy = new TcpLoops("busy", LoopOptions.of(1))) {
            var goOn = new CountDownLatch(1);
            Transport first = busy.connect(target.portal(), 60_000, Endpoint::new);
            first.loop().execute(() -> {
                try {
                    Endpoint.await(goOn, "permission to go on");
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> busy.connect(target.portal(), 1_000, transport -> {
                        var receiver = new Endpoint(transport);
                        made.add(receiver);
                        return receiver;
                    }));
            goOn.countDown();
            Endpoint _ = target.accepted();
            target.accepted().awaitClosed(); // the other end of the one given up
        }
        assertThat(made).allSatisfy(receiver -> assertThat(receiver.closedCount).hasValue(1));
    }

    @Test
    void shouldFailToConnectWhenThereIsNoReceiver() throws Exception {
        try (var network = echoing()) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> network.loops.connect(network.portal(), 60_000, _ -> {
                        throw new IllegalStateException("no receiver");
                    })).withRootCauseInstanceOf(IllegalStateException.class);
            network.accepted().awaitClosed();
        }
    }

    @Test
    void shouldContinueAcceptingAfterAConnectionThatHasNoReceiver() throws Exception {
        var calls = new AtomicInteger();
        try (var network = new Network(1, Network.LONG, transport -> {
            if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("no receiver");
            }
            return new Endpoint(transport, Endpoint::echo);
        })) {
            try {
                network.connect().awaitClosed();
            } catch (SocketException _) { // reset before connect(2) was seen to have succeeded
                assertThat(calls).hasValue(1);
            }
            network.connect().ping(1);
        }
    }

    @Test
    void shouldFreeThePortWhenTheListenerIsClosed() throws Exception {
        try (var network = echoing()) {
            Endpoint client = network.connect();
            client.ping(1);
            for (int i = 0; i < 20; i++) {
                var portal = new InetSocketAddress(Endpoint.ANY_PORT.getAddress(),
                        FreePorts.one());
                Listener listener = network.loops.listen(portal, Endpoint::new);
                long startNs = System.nanoTime();
                listener.close();
                listener.close();
                if (System.nanoTime() - startNs > 1_900_000_000L) {
                    client.awaitLoop(); // a close waits for the loop, but for 2 s only
                }
                assertThatExceptionOfType(IOException.class).isThrownBy(
                        () -> network.loops.connect(listener.local(), 10_000, Endpoint::new));
                network.loops.listen(listener.local(), Endpoint::new).close();
            }
            network.listener.close();
            client.ping(2); // those there are continue
        }
    }

    @Test
    void shouldRejectAPortInUse() throws Exception {
        try (var network = echoing()) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> network.loops.listen(network.portal(), Endpoint::new));
        }
    }

    @Test
    void shouldEndItsConnectionsWithItself() throws Exception {
        var network = echoing();
        for (int i = 0; i < 10; i++) {
            network.connect().ping(i);
        }
        network.close();
        network.close();
        assertThat(network.all).hasSize(20)
                .allSatisfy(end -> assertThat(end.closedCount).hasValue(1));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> network.loops.connect(network.portal(), 1000, Endpoint::new));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> network.loops.listen(Endpoint.ANY_PORT, Endpoint::new));
        network.listener.close();
    }

    @Test
    void shouldSendTheLastAnswerThoughTheLoopsEndAtOnce() throws Exception {
        var network = new Network(1, Network.LONG, Endpoint::new);
        try (Socket peer = network.rawPeer()) {
            Endpoint end = network.accepted();
            peer.getOutputStream().write(new byte[20]); // never read, perhaps
            end.send(5);
            end.transport.close();
            network.close();
            assertThat(peer.getInputStream().readAllBytes()).hasSize(48);
        }
    }

    @Test
    void shouldEndWhenClosedByOneOfItsOwnLoops() throws Exception {
        var network = new Network(2, Network.LONG, Endpoint::new);
        Endpoint client = network.connect();
        Endpoint server = network.accepted();
        client.transport.loop().execute(network::close);
        client.awaitClosed();
        server.awaitClosed();
        network.close();
    }

    @Test
    void shouldRejectToBlockItsOwnLoop() throws Exception {
        try (var network = echoing()) {
            Endpoint client = network.connect();
            var outcome = new CompletableFuture<String>();
            client.transport.loop().execute(() -> {
                try {
                    network.loops.listen(Endpoint.ANY_PORT, Endpoint::new).close();
                    outcome.complete("listened");
                } catch (IOException | IllegalStateException e) {
                    outcome.complete(e.getClass().getSimpleName());
                }
            });
            assertThat(outcome.get(60, TimeUnit.SECONDS)).isEqualTo("IllegalStateException");
        }
    }
}
