package lunar.rdma;

import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * Two connected sides of an RDMA device in this process, which run on the test's thread; it alternates between them.
 * Tests that need other threads start them.
 */
abstract class RdmaFixture {
    static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** Returns the device under test; throws with the reason if it is unavailable. */
    abstract RdmaDevice device() throws RdmaUnavailableException;

    /** Returns the device of the client side, given that of the server side: the same, or one that wraps it. */
    RdmaDevice clientDevice(RdmaDevice serverDevice) {
        return serverDevice;
    }

    /** Returns a local address that the device can listen on. */
    InetSocketAddress local() {
        return new InetSocketAddress("127.0.0.1", 0);
    }

    /** Returns the number of connections that the test for leaks opens. */
    int manyConnections() {
        return 1000;
    }

    /** Returns the status of a receive that is too short for its message. */
    CompletionStatus tooLong() {
        return CompletionStatus.LENGTH_ERROR;
    }

    Side server;
    Side client;
    Listener listener;

    @BeforeEach
    void open() throws RdmaException {
        RdmaDevice device;
        try {
            device = device();
        } catch (RdmaUnavailableException e) {
            System.out.println(getClass().getSimpleName() + " is skipped: " + e.getMessage());
            assumeTrue(false, e.getMessage());
            return;
        }
        server = new Side(device);
        client = new Side(clientDevice(device));
        listener = server.listen(local());
    }

    @AfterEach
    void close() {
        if (client != null) {
            client.close();
            server.close();
        }
    }

    /** Runs both sides until a condition holds. */
    void until(String what, Callable<Boolean> condition) throws Exception {
        until(List.of(server, client), what, condition);
    }

    /** Runs some sides until a condition holds. */
    void until(List<Side> sides, String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!condition.call()) {
            for (Side side : sides) {
                side.pump();
            }
            if (System.nanoTime() - end > 0) {
                fail("not within " + LIMIT_NANOS + " ns: " + what + "; server " + server.done
                        + ", client " + client.done + client.failures);
            }
        }
    }

    static byte[] bytes(String text) { return text.getBytes(StandardCharsets.UTF_8); }

    static String text(byte[] data) {
        return new String(data, StandardCharsets.UTF_8).replaceAll("\0+$", "");
    }

    /** Both ends of a connection. */
    record Pair(Endpoint near, Endpoint far) {}

    Pair connect() throws Exception { return connect(client.options(), server.options()); }

    Pair connect(EndpointOptions near, EndpointOptions far) throws Exception {
        int before = server.established.size();
        Endpoint active = client.channel.createEndpoint(near, client);
        active.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty());
        ConnectionRequest request = server.requests.removeFirst();
        Endpoint passive = request.createEndpoint(far, server);
        request.accept(bytes("welcome"));
        until("connection", () -> server.established.size() > before
                && active.state() == EndpointState.CONNECTED);
        return new Pair(active, passive);
    }
}
