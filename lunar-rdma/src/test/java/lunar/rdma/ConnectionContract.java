package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Contract of every RDMA device: connections, from their set-up to their end. */
abstract class ConnectionContract extends RdmaFixture {
    @Test
    void shouldConnectWithPrivateData() throws Exception {
        Endpoint near = client.endpoint();
        near.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty());
        ConnectionRequest request = server.requests.getFirst();
        assertThat(text(request.privateData())).isEqualTo("hello");
        assertThat(near.state()).isEqualTo(EndpointState.CONNECTING);

        Endpoint far = request.createEndpoint(server.options(), server);
        request.accept(bytes("welcome"));
        until("connection",
                () -> !client.established.isEmpty() && !server.established.isEmpty());

        assertThat(text(client.privateData.getFirst())).isEqualTo("welcome");
        assertThat(client.established).containsExactly(near);
        assertThat(server.established).containsExactly(far);
        assertThat(near.state()).isEqualTo(EndpointState.CONNECTED);
        assertThat(far.state()).isEqualTo(EndpointState.CONNECTED);
        assertThat(near.peer()).isEqualTo(listener.address());
        assertThat(client.channel.size()).isEqualTo(1);
    }

    @Test
    void shouldConnectWithoutPrivateData() throws Exception {
        Endpoint near = client.endpoint();
        near.connect(listener.address(), new byte[0]);
        until("request", () -> !server.requests.isEmpty());
        server.requests.getFirst().createEndpoint(server.options(), server);
        server.requests.getFirst().accept(new byte[0]);
        until("connection",
                () -> !client.established.isEmpty() && !server.established.isEmpty());
        assertThat(text(client.privateData.getFirst())).isEmpty();
    }

    @Test
    void shouldCarryLongestPrivateData() throws Exception {
        DeviceLimits limits = client.domain.device().limits();
        byte[] request = new byte[limits.maxConnectDataBytes()];
        Arrays.fill(request, (byte) 'q');
        byte[] answer = new byte[limits.maxAcceptDataBytes()];
        Arrays.fill(answer, (byte) 'a');
        client.endpoint().connect(listener.address(), request);
        until("request", () -> !server.requests.isEmpty());
        assertThat(server.requests.getFirst().privateData()).startsWith(request);
        server.requests.getFirst().createEndpoint(server.options(), server);
        server.requests.getFirst().accept(answer);
        until("connection", () -> !client.established.isEmpty());
        assertThat(client.privateData.getFirst()).startsWith(answer);
    }

    @Test
    void shouldRejectWithPrivateData() throws Exception {
        Endpoint near = client.endpoint();
        near.post(client.work.receive().add(client.pool.take()).context(7));
        near.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty());
        server.requests.getFirst().reject(bytes("not you"));
        until("reject", () -> !client.failures.isEmpty());

        ConnectionException failure = client.failures.getFirst();
        assertThat(failure.reason()).isEqualTo(ConnectionException.Reason.REJECTED);
        assertThat(text(failure.privateData())).isEqualTo("not you");
        assertThat(near.state()).isEqualTo(EndpointState.ERROR);
        until("flush", () -> !client.done.isEmpty());
        assertThat(client.next().status()).isEqualTo(CompletionStatus.FLUSHED);
        assertThatThrownBy(() -> server.requests.getFirst().accept(new byte[0]))
                .isInstanceOf(EndpointStateException.class);
    }

    @Test
    void shouldReportRefusedConnection() throws Exception {
        Listener gone = listenBelowEphemeralPorts();
        InetSocketAddress address = gone.address();
        gone.close();
        Endpoint near = client.endpoint();
        ConnectionException failure = null;
        try {
            near.connect(address, bytes("hello"));
            until("failure", () -> !client.failures.isEmpty());
            failure = client.failures.getFirst();
        } catch (ConnectionException e) {
            failure = e;
        }
        assertThat(failure.reason()).isIn(ConnectionException.Reason.REFUSED,
                ConnectionException.Reason.REJECTED);
        assertThat(failure.privateData()).isEmpty();
        assertThat(failure.retryable()).isTrue();
    }

    /** Listens on a port that no connection gets by itself once the listener is closed. */
    private Listener listenBelowEphemeralPorts() throws Exception {
        for (int tries = 1;; tries++) {
            try {
                return server.listen(new InetSocketAddress(local().getAddress(),
                        ThreadLocalRandom.current().nextInt(16_384, 32_768)));
            } catch (ConnectionException e) {
                if (tries == 100) {
                    throw e;
                }
            }
        }
    }

    @Test
    void shouldTimeOutConnecting() throws Exception {
        Endpoint near = client.channel.createEndpoint(client.options().withConnectTimeout(50),
                client);
        near.connect(listener.address(), bytes("hello"));
        until("timeout", () -> !client.failures.isEmpty()); // nothing answers the request
        assertThat(client.failures.getFirst().reason())
                .isEqualTo(ConnectionException.Reason.TIMEOUT);
        assertThat(near.state()).isEqualTo(EndpointState.ERROR);
    }

    @Test
    void shouldNotWaitBeyondConnectTimeout() throws Exception {
        Endpoint near = client.channel.createEndpoint(client.options().withConnectTimeout(50),
                client);
        near.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty() || !client.failures.isEmpty());
        while (client.failures.isEmpty()) {
            client.channel.await(0); // no time limit but that of the connect
        }
        assertThat(near.state()).isEqualTo(EndpointState.ERROR);
    }

    /** The peer ends after its request has arrived, before there is an answer. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReportPeerThatEndsBeforeTheAnswer(boolean accepts) throws Exception {
        Endpoint near = client.endpoint();
        near.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty());
        near.close();
        ConnectionRequest request = server.requests.removeFirst();
        if (!accepts || !isAcceptedAndEnds(request)) {
            request.reject(new byte[0]);
        }
        assertThat(client.established).isEmpty();
        assertThat(server.queue.room()).isEqualTo(server.queue.depth());
        assertThat(server.channel.size()).isEqualTo(1);
        Pair _ = connect(); // others are served
    }

    /** Accepts a request whose peer has ended; false if the device has no endpoint for it any longer, as with verbs. */
    private boolean isAcceptedAndEnds(ConnectionRequest request) throws Exception {
        Endpoint far;
        try {
            far = request.createEndpoint(server.options(), server);
        } catch (ProviderException _) {
            return false;
        }
        far.post(server.work.receive().add(server.slice("")));
        try {
            request.accept(bytes("welcome"));
            until("end", () -> far.state() == EndpointState.ERROR);
            until("flush", () -> !server.done.isEmpty());
            assertThat(server.next().status()).isEqualTo(CompletionStatus.FLUSHED);
        } catch (ConnectionException e) {
            assertThat(far.state()).isEqualTo(EndpointState.ERROR);
        }
        far.close();
        return true;
    }

    /** The listening end ends after it has received the request, and never answers. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReportListenerThatEndsBeforeItsAnswer(boolean hasEndpoint) throws Exception {
        Endpoint near = connectBriefly();
        for (int tries = 1; server.requests.isEmpty() && tries < 10; tries++) {
            near.close(); // its time was over before the request had come
            client.failures.clear();
            client.done.clear();
            near = connectBriefly();
        }
        if (hasEndpoint) {
            server.requests.getFirst().createEndpoint(server.options(), server).close();
        } else {
            server.channel.close();
        }
        until(List.of(client), "failure and flush",
                () -> !client.failures.isEmpty() && !client.done.isEmpty());
        assertThat(near.state()).isEqualTo(EndpointState.ERROR);
        assertThat(client.next().status()).isEqualTo(CompletionStatus.FLUSHED);
        near.close();
        assertThat(client.queue.room()).isEqualTo(client.queue.depth());
        assertThat(client.channel.size()).isZero();
    }

    /** Connects with a timeout of 2 s; returns when the request has come, or the time is over. */
    private Endpoint connectBriefly() throws Exception {
        Endpoint near = client.channel.createEndpoint(client.options().withConnectTimeout(2_000),
                client);
        near.post(client.work.receive().add(client.slice("")));
        near.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty() || !client.failures.isEmpty());
        return near;
    }

    @Test
    void shouldRefusePrivateDataThatIsTooLong() throws Exception {
        int limit = client.domain.device().limits().maxConnectDataBytes();
        Endpoint near = client.endpoint();
        assertThatThrownBy(() -> near.connect(listener.address(), new byte[limit + 1]))
                .isInstanceOfSatisfying(PrivateDataException.class,
                        e -> assertThat(e.maxBytes()).isEqualTo(limit));
        near.connect(listener.address(), new byte[limit]);
        until("request", () -> !server.requests.isEmpty());
        ConnectionRequest request = server.requests.getFirst();
        assertThatThrownBy(() -> request.reject(
                new byte[client.domain.device().limits().maxRejectDataBytes() + 1]))
                .isInstanceOf(PrivateDataException.class);
        request.createEndpoint(server.options(), server);
        assertThatThrownBy(() -> request.accept(
                new byte[client.domain.device().limits().maxAcceptDataBytes() + 1]))
                .isInstanceOf(PrivateDataException.class);
        request.accept(new byte[0]);
        until("connection", () -> !client.established.isEmpty());
    }

    @Test
    void shouldRefuseAddressInUse() {
        assertThatThrownBy(() -> client.listen(listener.address()))
                .isInstanceOfSatisfying(ConnectionException.class, e -> assertThat(e.reason())
                        .isEqualTo(ConnectionException.Reason.ADDRESS_IN_USE));
    }

    @Test
    void shouldRefuseToSendBeforeConnection() throws Exception {
        Endpoint near = client.endpoint();
        assertThatThrownBy(() -> near.post(client.work.send().add(client.slice("x"))))
                .isInstanceOf(EndpointStateException.class);
        assertThat(client.pool.available()).isEqualTo(Side.SLICES - 1);
    }

    @Test
    void shouldAcceptReceivesBeforeConnection() throws Exception {
        Endpoint near = client.endpoint();
        MemorySlice early = client.slice("");
        near.post(client.work.receive().add(early).context(5));
        near.connect(listener.address(), bytes("hello"));
        until("request", () -> !server.requests.isEmpty());
        ConnectionRequest request = server.requests.getFirst();
        Endpoint far = request.createEndpoint(server.options(), server);
        far.post(server.work.receive().add(server.slice("")));
        request.accept(bytes("welcome"));
        until("connection", () -> !server.established.isEmpty());
        far.post(server.work.send().add(server.slice("first"), 0, 6));
        until("message", () -> !client.done.isEmpty());
        assertThat(client.next().context()).isEqualTo(5);
        assertThat(Side.text(early)).isEqualTo("first");
    }

    @Test
    void shouldFlushPostedOperationsWhenPeerDisconnects() throws Exception {
        Pair pair = connect();
        MemorySlice waiting = client.pool.take();
        pair.near().post(client.work.receive().add(waiting).context(1));
        pair.near().post(client.work.receive().add(waiting).context(2));
        pair.far().disconnect();
        assertThat(pair.far().state()).isEqualTo(EndpointState.ERROR);
        until("end", () -> !client.disconnected.isEmpty() && client.done.size() == 2);
        assertThat(client.disconnected).containsExactly(pair.near());
        assertThat(client.done).allMatch(one -> one.status() == CompletionStatus.FLUSHED);
        assertThat(client.done).extracting(Side.Done::context).containsExactly(1L, 2L);
        assertThat(waiting.posted()).isZero();
        until("own end", () -> !server.disconnected.isEmpty());
        assertThat(server.disconnected).containsExactly(pair.far());
    }

    @Test
    void shouldDeliverMessagesThatWereSentBeforeClose() throws Exception {
        Pair pair = connect();
        MemorySlice to = server.slice("");
        pair.far().post(server.work.receive().add(to));
        pair.near().post(client.work.send().add(client.slice("last words"), 0, 11));
        until("sent", () -> !client.done.isEmpty());
        pair.near().close();
        until("end", () -> !server.disconnected.isEmpty());
        assertThat(server.next().isSuccess()).isTrue();
        assertThat(Side.text(to)).isEqualTo("last words");
    }

    @Test
    void shouldReleaseMemoryWhenClosedWithOperationsInFlight() throws Exception {
        Pair pair = connect();
        MemorySlice target = server.slice("");
        for (int i = 0; i < 8; i++) {
            pair.near().post(client.work.receive().add(client.pool.take()));
            pair.near().post(client.work.read(target.remote()).add(client.pool.take()));
            pair.near().post(client.work.write(target.remote()).add(client.pool.take()));
        }
        pair.near().close();
        assertThat(client.queue.room()).isEqualTo(client.queue.depth());
        client.pump();
        assertThat(client.done).isEmpty();
        assertThat(client.disconnected).isEmpty();
        until("end of peer", () -> !server.disconnected.isEmpty());
    }

    @Test
    void shouldLeakNothingOverManyConnections() throws Exception {
        MemoryUse before = client.domain.use();
        for (int i = 0; i < manyConnections(); i++) {
            Pair pair = connect();
            MemorySlice from = client.slice("x");
            MemorySlice to = server.slice("");
            pair.far().post(server.work.receive().add(to));
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(from, 0, 2));
            until("message", () -> !server.done.isEmpty());
            from.close();
            to.close();
            if (i % 2 == 0) {
                pair.near().disconnect();
                until("end", () -> !server.disconnected.isEmpty());
            }
            pair.near().close();
            pair.far().close();
            assertThat(client.pool.available()).isEqualTo(Side.SLICES);
            assertThat(server.pool.available()).isEqualTo(Side.SLICES);
            client.done.clear();
            server.done.clear();
            server.disconnected.clear();
        }
        assertThat(client.domain.use()).isEqualTo(before);
        assertThat(server.domain.use()).isEqualTo(before);
        assertThat(client.channel.size()).isZero();
        assertThat(server.channel.size()).isEqualTo(1);
        assertThat(client.queue.room()).isEqualTo(client.queue.depth());
    }

    @Test
    void shouldServeSeveralConnectionsWithOneQueue() throws Exception {
        var pairs = new ArrayList<Pair>();
        for (int i = 0; i < 5; i++) {
            pairs.add(connect());
        }
        for (Pair pair : pairs) {
            pair.far().post(server.work.receive().add(server.slice("")).context(
                    pairs.indexOf(pair)));
        }
        for (Pair pair : pairs.reversed()) {
            pair.near().post(client.work.send().add(client.slice("x"), 0, 2));
        }
        until("messages", () -> server.done.size() == 5);
        assertThat(server.done).allMatch(one -> one.endpoint() == pairs.get((int) one.context())
                .far());
    }

    @Test
    void shouldBeFoundByName() throws Exception {
        DeviceInfo info = client.domain.device();
        assertThat(Rdma.device(info.name()).info().name()).isEqualTo(info.name());
        assertThat(Rdma.devices()).extracting(RdmaDevice::toString).contains(info.name());
        assertThatThrownBy(() -> Rdma.device("none")).isInstanceOf(RdmaUnavailableException.class)
                .hasMessageContaining(info.name());
        assertThat(Optional.of(info.limits().maxSegments()).get()).isGreaterThanOrEqualTo(2);
    }
}
