package lunar.rdma.libfabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import lunar.rdma.CompletionQueue;
import lunar.rdma.ConnectionException;
import lunar.rdma.ConnectionHandler;
import lunar.rdma.ConnectionRequest;
import lunar.rdma.Endpoint;
import lunar.rdma.EndpointHandler;
import lunar.rdma.EndpointOptions;
import lunar.rdma.EventChannel;
import lunar.rdma.Listener;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaException;
import lunar.rdma.RdmaUnavailableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Peers on plain sockets that name what is not theirs in the set-up of a connection. */
class ShmHostilePeerTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 0);

    private ProtectionDomain domain;
    private EventChannel channel;
    private CompletionQueue queue;
    private final List<ConnectionException> failures = new ArrayList<>();
    private final List<ConnectionRequest> requests = new ArrayList<>();

    private final EndpointHandler handler = new EndpointHandler() {
        @Override
        public void established(Endpoint endpoint, byte[] data) {}

        @Override
        public void failed(Endpoint endpoint, ConnectionException cause) { failures.add(cause); }

        @Override
        public void disconnected(Endpoint endpoint) {}
    };

    @BeforeEach
    void open() throws RdmaException {
        try {
            domain = Rdma.device("libfabric:shm").open();
        } catch (RdmaUnavailableException e) {
            System.out.println("ShmHostilePeerTest is skipped: " + e.getMessage());
            assumeTrue(false, e.getMessage());
        }
        channel = domain.openChannel();
        queue = channel.createCompletionQueue(512);
    }

    @AfterEach
    void close() {
        if (domain != null) {
            channel.close();
            domain.close();
        }
    }

    /** With more time than a test takes: an endpoint that waits must not fail because of that. */
    private EndpointOptions options() {
        return EndpointOptions.of(queue).withConnectTimeout(600_000);
    }

    private Endpoint endpoint() throws RdmaException {
        return channel.createEndpoint(options(), handler);
    }

    private Listener listen() throws RdmaException {
        return channel.listen(LOOPBACK, new ConnectionHandler() {
            @Override
            public void requested(ConnectionRequest request) { requests.add(request); }

            @Override
            public void failed(RdmaException cause) { throw new AssertionError(cause); }
        });
    }

    private Endpoint accept(ConnectionRequest request) throws RdmaException {
        Endpoint made = request.createEndpoint(options(), handler);
        request.accept(new byte[0]);
        return made;
    }

    private void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!condition.call()) {
            channel.poll();
            if (System.nanoTime() - end > 0) {
                fail("not in time: " + what);
            }
        }
    }

    private void pumpSome() throws RdmaException {
        for (int i = 0; i < 100; i++) {
            channel.await(1);
        }
    }

    /** Receives the message that an endpoint sends when it connects. */
    private static ShmMessage receive(SocketChannel socket) throws IOException {
        ByteBuffer received = ByteBuffer.allocate(ShmMessage.MAX_BYTES);
        while (!ShmMessage.isComplete(received)) {
            if (socket.read(received) < 0) {
                throw new IOException("closed");
            }
        }
        return ShmMessage.decode(received);
    }

    private static ShmMessage as(ShmMessage.Kind kind, ShmMessage like) {
        return new ShmMessage(kind, like.endpoint(), like.board(), like.channel(),
                like.connection(), new byte[0]);
    }

    @Test
    void shouldNotBecomePeerOfItself() throws Exception {
        requireRejected(request -> as(ShmMessage.Kind.ACCEPT, request));
        assertThat(channel.size()).isZero();
    }

    /** Connects an endpoint to a peer that answers its request, and requires one failure with the reason PROTOCOL. */
    private void requireRejected(UnaryOperator<ShmMessage> answer) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(LOOPBACK)) {
            Endpoint near = endpoint();
            near.connect((InetSocketAddress) server.getLocalAddress(), new byte[0]);
            try (SocketChannel socket = server.accept()) {
                channel.await(1);
                socket.write(answer.apply(receive(socket)).encode());
            }
            until("failure", () -> !failures.isEmpty());
            pumpSome();
            assertThat(failures).singleElement().satisfies(failure -> assertThat(failure.reason())
                    .isEqualTo(ConnectionException.Reason.PROTOCOL));
            failures.clear();
            near.close();
        }
    }

    /** Another user knows the names in /dev/shm, but cannot read the number there. */
    @Test
    void shouldRejectPeerThatNamesSharedMemoryOfOthers() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(LOOPBACK)) {
            Endpoint named = endpoint();
            named.connect((InetSocketAddress) server.getLocalAddress(), new byte[0]);
            ShmMessage names;
            try (SocketChannel socket = server.accept()) {
                channel.await(1);
                names = receive(socket);
                ShmBoard.Connection place = names.connection();
                requireRejected(_ -> new ShmMessage(ShmMessage.Kind.ACCEPT, names.endpoint(),
                        names.board(), names.channel(),
                        new ShmBoard.Connection(place.slot(), place.number() + 1), new byte[0]));
                requireRejected(_ -> new ShmMessage(ShmMessage.Kind.ACCEPT, names.endpoint(),
                        names.board(), names.channel(),
                        new ShmBoard.Connection(place.slot() + 1, 0), new byte[0]));
            }
            named.close();
        }
        assertThat(channel.size()).isZero();
    }

    /** The files of a peer are deleted if its process has ended: they must be of that process. */
    @Test
    void shouldKeepBoardThatIsNotOfThePeersProcess() throws Exception {
        // A name of its own, because all processes of the machine share /dev/shm.
        String name = "lunar-rdma-1-%016x".formatted(new SecureRandom().nextLong());
        var place = new ShmBoard.Connection(0, 5);
        try (ShmBoard board = ShmBoard.create(name)) {
            board.open(place);
            requireRejected(
                    _ -> new ShmMessage(ShmMessage.Kind.ACCEPT, "fi_shm://999999999:0:0", name, 0,
                            place, new byte[0]));
            assertThat(Path.of("/dev/shm", name)).exists();
        } finally {
            ShmBoard.delete(name);
        }
    }

    @Test
    void shouldNotShareEndpointBetweenConnections() throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(LOOPBACK);
                Listener listener = listen()) {
            Endpoint named = endpoint();
            named.connect((InetSocketAddress) server.getLocalAddress(), new byte[0]);
            var endpoints = new ArrayList<>(List.of(named));
            try (SocketChannel socket = server.accept();
                    SocketChannel first = SocketChannel.open(listener.address());
                    SocketChannel second = SocketChannel.open(listener.address())) {
                channel.await(1);
                ByteBuffer request = as(ShmMessage.Kind.REQUEST, receive(socket)).encode();
                first.write(request.duplicate());
                second.write(request.duplicate());
                until("requests", () -> requests.size() == 2);
                endpoints.add(accept(requests.getFirst()));
                pumpSome();
                assertThat(failures).isEmpty();
                endpoints.add(accept(requests.getLast()));
                until("failure", () -> !failures.isEmpty());
                assertThat(failures).singleElement()
                        .satisfies(failure -> assertThat(failure.reason())
                                .isEqualTo(ConnectionException.Reason.PROTOCOL));
            }
            endpoints.forEach(Endpoint::close);
        }
        assertThat(channel.size()).isZero();
    }
}
