package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Contract of every RDMA device: {@link ConnectionContract}, messages, RDMA, completions and memory. */
abstract class RdmaContract extends ConnectionContract {
    @Test
    void shouldSendAndReceive() throws Exception {
        Pair pair = connect();
        MemorySlice from = client.slice("data");
        MemorySlice to = server.slice("");
        pair.far().post(server.work.receive().add(to).context(1).attachment("receive"));
        pair.near().post(client.work.send().add(from, 0, 5).context(2).attachment("send"));
        until("completions", () -> !server.done.isEmpty() && !client.done.isEmpty());

        assertThat(server.next()).isEqualTo(new Side.Done(pair.far(), Operation.RECEIVE,
                CompletionStatus.SUCCESS, 5, 0, 1, "receive", 0));
        Side.Done sent = client.next();
        assertThat(sent.operation()).isEqualTo(Operation.SEND);
        assertThat(sent.isSuccess()).isTrue();
        assertThat(sent.context()).isEqualTo(2);
        assertThat(sent.attachment()).isEqualTo("send");
        assertThat(Side.text(to)).isEqualTo("data");
        assertThat(from.posted() + to.posted()).isZero();
    }

    @Test
    void shouldGatherAndScatterSegments() throws Exception {
        Pair pair = connect();
        MemorySlice header = client.slice("header--");
        MemorySlice data = client.slice("....the data");
        MemorySlice first = server.slice("");
        MemorySlice second = server.slice("");
        pair.far().post(server.work.receive().add(first, 16, 4).add(second));
        pair.near().post(client.work.send().add(header, 0, 8).add(data, 4, 9));
        until("completions", () -> !server.done.isEmpty() && !client.done.isEmpty());
        assertThat(server.next().bytes()).isEqualTo(17);
        assertThat(first.segment().getString(16)).isEqualTo("head");
        assertThat(Side.text(second)).isEqualTo("er--the data");
    }

    @Test
    void shouldSendEmptyMessage() throws Exception {
        Pair pair = connect();
        pair.far().post(server.work.receive().add(server.pool.take()));
        pair.near().post(client.work.send());
        until("completions", () -> !server.done.isEmpty() && !client.done.isEmpty());
        assertThat(server.next().bytes()).isZero();
    }

    @Test
    void shouldCopyInlineMessageWhilePosting() throws Exception {
        assumeTrue(client.options().inlineBytes() > 0, "no inline messages");
        Pair pair = connect();
        MemorySlice from = client.slice("before");
        MemorySlice to = server.slice("");
        pair.near().post(client.work.send().add(from, 0, 7).inline());
        from.segment().setString(0, "after");
        pair.far().post(server.work.receive().add(to));
        until("completions", () -> !server.done.isEmpty() && !client.done.isEmpty());
        assertThat(Side.text(to)).isEqualTo("before");
        assertThatThrownBy(() -> pair.near().post(client.work.send().add(from).inline()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepOrderOfManyMessages() throws Exception {
        Pair pair = connect();
        int messages = 500;
        int posted = 0;
        int sent = 0;
        int received = 0;
        var slices = new ArrayList<MemorySlice>();
        for (int i = 0; i < 32; i++) {
            slices.add(client.pool.take());
        }
        while (received < messages) {
            while (pair.far().postedReceives() < 16) {
                MemorySlice to = server.pool.take();
                pair.far().post(server.work.receive().add(to, 0, 8).attachment(to));
            }
            while (posted < messages && posted - sent < 16) {
                MemorySlice from = slices.get(posted % 32);
                from.segment().set(ValueLayout.JAVA_LONG, 0, posted);
                assertThat(pair.near().tryPost(
                        client.work.send().add(from, 0, 8).context(posted++))).isTrue();
            }
            server.pump();
            client.pump();
            while (!client.done.isEmpty()) {
                assertThat(client.next().isSuccess()).isTrue();
                sent++;
            }
            while (!server.done.isEmpty()) {
                Side.Done one = server.next();
                assertThat(one.isSuccess()).isTrue();
                var to = (MemorySlice) one.attachment();
                assertThat(to.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(received++);
                to.close();
            }
        }
    }

    @Test
    void shouldTransferLargeMessages() throws Exception {
        Pair pair = connect();
        int length = 3 << 20;
        try (Arena arena = Arena.ofShared();
                MemoryRegion from = client.domain.register(arena.allocate(length), Set.of());
                MemoryRegion to = server.domain.register(arena.allocate(length), Access.ALL)) {
            for (int i = 0; i < length; i += 4) {
                from.segment().set(ValueLayout.JAVA_INT, i, i * 31);
            }
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(from));
            until("message", () -> !server.done.isEmpty() && !client.done.isEmpty());
            assertThat(server.next().bytes()).isEqualTo(length);
            assertThat(from.segment().mismatch(to.segment())).isEqualTo(-1);
            client.done.clear();

            to.segment().fill((byte) 0);
            pair.near().post(client.work.write(to.remote()).add(from));
            until("write", () -> !client.done.isEmpty());
            assertThat(client.next().isSuccess()).isTrue();
            assertThat(from.segment().mismatch(to.segment())).isEqualTo(-1);
        }
    }

    @Test
    void shouldWriteToAndReadFromMemoryOfPeer() throws Exception {
        Pair pair = connect();
        MemorySlice far = server.slice("................");
        MemorySlice near = client.slice("written");
        RemoteMemory remote = far.remote().slice(8, 100);
        pair.near().post(client.work.write(remote).add(near, 0, 8).context(1));
        until("write", () -> !client.done.isEmpty());
        assertThat(client.next().isSuccess()).isTrue();
        assertThat(far.segment().getString(8)).isEqualTo("written");

        far.segment().setString(8, "readable");
        MemorySlice one = client.slice("");
        MemorySlice two = client.slice("");
        pair.near().post(client.work.read(remote).add(one, 0, 4).add(two, 0, 5).context(2));
        until("read", () -> !client.done.isEmpty());
        Side.Done read = client.next();
        assertThat(read.isSuccess()).isTrue();
        assertThat(read.operation()).isEqualTo(Operation.READ);
        assertThat(Side.text(one) + Side.text(two)).isEqualTo("readable");
        assertThat(server.done).isEmpty();
    }

    @Test
    void shouldPlaceWriteBeforeFollowingMessage() throws Exception {
        Pair pair = connect();
        MemorySlice target = server.slice("");
        MemorySlice data = client.slice("placed");
        for (int i = 0; i < 50; i++) {
            target.segment().fill((byte) 0);
            pair.far().post(server.work.receive().add(server.slice("")));
            pair.near().post(client.work.write(target.remote()).add(data, 0, 7).unsignalled());
            pair.near().post(client.work.send().add(data, 0, 1));
            until("message", () -> !server.done.isEmpty() && !client.done.isEmpty());
            assertThat(Side.text(target)).isEqualTo("placed");
            assertThat(server.next().isSuccess()).isTrue();
            assertThat(client.next().operation()).isEqualTo(Operation.SEND);
        }
        assertThat(client.done).isEmpty();
    }

    /** Posts an operation that must fail without an effect on the peer's memory, and end the connection. */
    private void expectFailure(Pair pair, WorkRequest forbidden, MemorySlice target)
            throws Exception {
        MemorySlice waiting = client.pool.take();
        pair.near().post(new WorkRequest().receive().add(waiting).context(100));
        pair.near().post(forbidden.context(1));
        until("error", () -> client.done.size() == 2 && !client.disconnected.isEmpty());
        List<Side.Done> both = client.done.stream().sorted(
                (a, b) -> Long.compare(a.context(), b.context())).toList();
        assertThat(both.getFirst().isSuccess()).isFalse();
        assertThat(both.get(1).status()).isEqualTo(CompletionStatus.FLUSHED);
        assertThat(pair.near().state()).isEqualTo(EndpointState.ERROR);
        assertThatThrownBy(() -> pair.near().post(client.work.send()))
                .isInstanceOf(EndpointStateException.class);
        assertThatThrownBy(() -> pair.near().post(client.work.receive()))
                .isInstanceOf(EndpointStateException.class);
        assertThat(waiting.posted()).isZero();
        assertThat(Side.text(target)).isEqualTo("untouched");
    }

    @Test
    void shouldNotWriteWithWrongKey() throws Exception {
        MemorySlice target = server.slice("untouched");
        expectFailure(connect(), client.work.write(target.remoteAddress(), ~target.remoteKey())
                .add(client.slice("evil"), 0, 5), target);
    }

    @Test
    void shouldNotReadWithWrongKey() throws Exception {
        MemorySlice target = server.slice("untouched");
        MemorySlice into = client.slice("nothing");
        expectFailure(connect(), client.work.read(target.remoteAddress(), ~target.remoteKey())
                .add(into, 0, 9), target);
        assertThat(Side.text(into)).isEqualTo("nothing");
    }

    @Test
    void shouldNotWriteBeyondMemory() throws Exception {
        MemorySlice target = server.slice("untouched");
        long end = target.remoteAddress() + (long) Side.SLICES * Side.SLICE_BYTES - 4;
        expectFailure(connect(), client.work.write(end, target.remoteKey())
                .add(client.slice("evil"), 0, 8), target);
    }

    @Test
    void shouldNotWriteToReadOnlyMemory() throws Exception {
        MemorySlice target = server.slice("untouched");
        try (MemoryRegion readable = server.domain.register(target.segment(),
                Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ))) {
            expectFailure(connect(), client.work.write(readable.remote())
                    .add(client.slice("evil"), 0, 5), target);
        }
    }

    @Test
    void shouldNotReadMemoryWithoutRemoteReadAccess() throws Exception {
        MemorySlice target = server.slice("untouched");
        try (MemoryRegion local = server.domain.register(target.segment(), Access.LOCAL)) {
            MemorySlice into = client.slice("nothing");
            expectFailure(connect(), client.work.read(local.remote()).add(into, 0, 9), target);
            assertThat(Side.text(into)).isEqualTo("nothing");
        }
    }

    @Test
    void shouldNotWriteToDeregisteredMemory() throws Exception {
        MemorySlice target = server.slice("untouched");
        MemoryRegion gone = server.domain.register(target.segment(), Access.ALL);
        RemoteMemory remote = gone.remote();
        gone.close();
        expectFailure(connect(), client.work.write(remote).add(client.slice("evil"), 0, 5), target);
    }

    @Test
    void shouldSendNothingBehindOperationThatFails() throws Exception {
        Pair pair = connect();
        MemorySlice target = server.slice("untouched");
        MemorySlice to = server.slice("nothing");
        pair.far().post(server.work.receive().add(to));
        pair.near().post(client.work.write(target.remoteAddress(), ~target.remoteKey())
                .add(client.slice("evil"), 0, 5).context(1));
        pair.near().post(client.work.send().add(client.slice("done"), 0, 5).context(2));
        until("end", () -> client.done.size() == 2 && !server.done.isEmpty()
                && !server.disconnected.isEmpty());
        assertThat(client.done).noneMatch(one -> one.context() == 1 && one.isSuccess());
        assertThat(server.next().status()).isEqualTo(CompletionStatus.FLUSHED);
        assertThat(Side.text(to)).isEqualTo("nothing");
        assertThat(Side.text(target)).isEqualTo("untouched");
    }

    @Test
    void shouldEndConnectionIfMessageIsTooLong() throws Exception {
        Pair pair = connect();
        MemorySlice to = server.slice("");
        pair.far().post(server.work.receive().add(to, 0, 4).context(1));
        pair.far().post(server.work.receive().add(server.slice("")).context(2));
        pair.near().post(client.work.receive().add(client.slice("")));
        pair.near().post(client.work.send().add(client.slice("too long"), 0, 9));
        until("error", () -> server.done.size() == 2 && !server.disconnected.isEmpty()
                && !client.disconnected.isEmpty());
        assertThat(server.next().status()).isEqualTo(tooLong());
        assertThat(server.next().status()).isEqualTo(CompletionStatus.FLUSHED);
        assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 4)).isZero();
        assertThat(pair.far().state()).isEqualTo(EndpointState.ERROR);
        assertThat(pair.near().state()).isEqualTo(EndpointState.ERROR);
    }

    @Test
    void shouldHoldMessageUntilReceiveIsPosted() throws Exception {
        Pair pair = connect();
        pair.near().post(client.work.send().add(client.slice("early"), 0, 6));
        for (int i = 0; i < 100; i++) {
            server.pump();
            client.pump();
        }
        assertThat(server.done).isEmpty();
        MemorySlice to = server.slice("");
        pair.far().post(server.work.receive().add(to));
        until("message", () -> !server.done.isEmpty());
        assertThat(server.next().isSuccess()).isTrue();
        assertThat(Side.text(to)).isEqualTo("early");
    }

    @Test
    void shouldRefuseToPostToFullQueue() throws Exception {
        Pair pair = connect();
        MemorySlice memory = server.pool.take();
        for (int i = 0; i < 16; i++) {
            pair.far().post(server.work.receive().add(memory, i * 8, 8));
        }
        assertThatThrownBy(() -> pair.far().post(server.work.receive().add(memory, 0, 8)))
                .isInstanceOf(QueueFullException.class);
        assertThat(memory.posted()).isEqualTo(16);

        MemorySlice from = client.slice("1234567");
        for (int i = 0; i < 16; i++) {
            pair.near().post(client.work.send().add(from, 0, 8));
        }
        assertThat(pair.near().tryPost(client.work.send().add(from, 0, 8))).isFalse();
        assertThat(from.posted()).isEqualTo(16);
        until("completions", () -> client.done.size() == 16 && server.done.size() == 16);
        pair.far().post(server.work.receive().add(memory, 0, 8));
        pair.near().post(client.work.send().add(from, 0, 8));
        until("completions", () -> client.done.size() == 17 && server.done.size() == 17);
        assertThat(server.done).allMatch(Side.Done::isSuccess);
    }

    @Test
    void shouldReportOnlySignalledOperations() throws Exception {
        Pair pair = connect();
        MemorySlice from = client.slice("x");
        MemorySlice to = server.slice("");
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 8; i++) {
                pair.far().post(server.work.receive().add(to, 0, 8));
            }
            for (int i = 0; i < 7; i++) {
                pair.near().post(client.work.send().add(from, 0, 8).unsignalled());
            }
            pair.near().post(client.work.send().add(from, 0, 8).context(round));
            until("messages", () -> server.done.size() == 8 && !client.done.isEmpty());
            assertThat(client.next().context()).isEqualTo(round);
            server.done.clear();
            until("release", () -> from.posted() == 0);
            assertThat(client.done).isEmpty();
        }
    }

    @Test
    void shouldRefuseInvalidationWithoutCapability() throws Exception {
        assumeTrue(!client.domain.device().capabilities().contains(
                Capability.SEND_WITH_INVALIDATE), "device invalidates");
        Pair pair = connect();
        assertThatThrownBy(() -> pair.near().post(client.work.sendAndInvalidate(1)))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldRefuseRequestsThatExceedOptions() throws Exception {
        Pair pair = connect();
        MemorySlice slice = client.pool.take();
        assertThatThrownBy(() -> pair.near().post(
                client.work.send().add(slice, 0, 1).add(slice, 1, 1).add(slice, 2, 1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pair.near().post(client.work.send().add(server.pool.take())))
                .isInstanceOf(IllegalArgumentException.class);
        try (MemoryRegion constant = client.domain.register(slice.segment(), Set.of())) {
            assertThatThrownBy(() -> pair.near().post(client.work.receive().add(constant)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(slice.posted()).isZero();
        assertThatThrownBy(() -> client.channel.createEndpoint(client.options().withDepth(
                client.domain.device().limits().maxSendDepth() + 1, 1), client))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldNotReuseSliceThatIsPosted() throws Exception {
        Pair pair = connect();
        MemorySlice slice = server.pool.take();
        pair.far().post(server.work.receive().add(slice));
        slice.close();
        assertThat(server.pool.available()).isEqualTo(Side.SLICES - 1);
        assertThatThrownBy(() -> server.pool.close()).isInstanceOf(MemoryInUseException.class);
        assertThatThrownBy(() -> pair.far().post(server.work.receive().add(slice)))
                .isInstanceOf(MemoryInUseException.class);
        assertThat(pair.far().postedReceives()).isEqualTo(1);

        pair.near().post(client.work.send().add(client.slice("x"), 0, 2));
        until("message", () -> !server.done.isEmpty());
        assertThat(server.pool.available()).isEqualTo(Side.SLICES);
    }

    @Test
    void shouldNotDeregisterMemoryThatIsPosted() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion region = server.domain.register(arena.allocate(100), Access.LOCAL);
            assertThat(server.domain.use().regions()).isEqualTo(2);
            pair.far().post(server.work.receive().add(region));
            assertThatThrownBy(region::close).isInstanceOf(MemoryInUseException.class);
            assertThatThrownBy(() -> server.domain.close())
                    .isInstanceOf(MemoryInUseException.class);
            pair.far().close();
            region.close();
            region.close();
        }
        assertThat(server.domain.use()).isEqualTo(new MemoryUse(1,
                (long) Side.SLICES * Side.SLICE_BYTES, 1, 0));
    }

    @Test
    void shouldRefuseMoreEndpointsThanCompletionQueueHasRoomFor() throws Exception {
        CompletionQueue small = client.channel.createCompletionQueue(40);
        EndpointOptions options = EndpointOptions.of(small).withDepth(16, 16);
        Endpoint first = client.channel.createEndpoint(options, client);
        assertThatThrownBy(() -> client.channel.createEndpoint(options, client))
                .isInstanceOf(QueueFullException.class);
        assertThat(small.room()).isEqualTo(8);
        assertThatThrownBy(small::close).isInstanceOf(IllegalStateException.class);
        first.close();
        client.channel.createEndpoint(options, client).close();
        small.close();
    }

    @Test
    void shouldEndWaitWhenWokenUp() throws Exception {
        client.channel.wakeup();
        client.channel.await(0); // returns at once
        client.channel.wakeup();
        client.channel.poll();
        client.channel.await(0); // also if events were polled in between
        var waiter = new AtomicReference<Thread.State>();
        Thread waiting = Thread.currentThread();
        Thread waker = Thread.ofPlatform().start(() -> {
            waiter.set(waiting.getState());
            client.channel.wakeup();
        });
        client.channel.await(0);
        waker.join();
        assertThat(waiter.get()).isNotNull();
    }

    @Test
    void shouldWaitForCompletions() throws Exception {
        Pair pair = connect();
        MemorySlice to = server.slice("");
        pair.far().post(server.work.receive().add(to));
        Thread sender = Thread.ofPlatform().start(() -> {
            try {
                pair.near().post(client.work.send().add(client.slice("wake up"), 0, 8));
                while (client.done.isEmpty()) {
                    client.pump();
                }
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        });
        while (server.done.isEmpty()) {
            server.channel.await(0);
            server.drain();
        }
        sender.join();
        assertThat(Side.text(to)).isEqualTo("wake up");
    }

    @Test
    void shouldNotWaitWhileCompletionsAreAvailable() throws Exception {
        Pair pair = connect();
        pair.near().post(client.work.send().add(client.slice("x"), 0, 2));
        while (client.done.isEmpty()) {
            client.channel.await(0);
            client.drain();
        }
        for (int i = 0; i < 4; i++) {
            pair.far().post(server.work.receive().add(server.slice("")).context(i));
        }
        pair.near().disconnect();
        Completions one = new Completions(1);
        var seen = new ArrayList<Long>();
        while (seen.size() < 4) {
            server.channel.await(0);
            if (server.queue.poll(one) > 0) {
                seen.add(one.get(0).context());
            }
        }
        assertThat(seen).containsExactly(0L, 1L, 2L, 3L);
    }

    @Test
    void shouldPostFromOtherThreads() throws Exception {
        Pair pair = connect();
        int perThread = 200;
        int threads = 3;
        var failure = new AtomicReference<Throwable>();
        var posters = new ArrayList<Thread>();
        MemorySlice memory = client.slice("x");
        for (int t = 0; t < threads; t++) {
            posters.add(Thread.ofPlatform().start(() -> {
                var work = new WorkRequest();
                try {
                    for (int i = 0; i < perThread;) {
                        if (pair.near().tryPost(work.send().add(memory, 0, 8))) {
                            i++;
                        } else {
                            Thread.onSpinWait();
                        }
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            }));
        }
        MemorySlice to = server.slice("");
        until("messages", () -> {
            while (pair.far().tryPost(server.work.receive().add(to, 0, 8))) {
                // fill the receive queue
            }
            return failure.get() != null
                    || server.done.size() == threads * perThread
                            && client.done.size() == threads * perThread;
        });
        for (Thread poster : posters) {
            poster.join();
        }
        assertThat(failure.get()).isNull();
        assertThat(server.done).allMatch(Side.Done::isSuccess);
        assertThat(memory.posted()).isZero();
    }

    @Test
    void shouldShareReceivesBetweenConnections() throws Exception {
        if (!server.domain.device().capabilities().contains(Capability.SHARED_RECEIVE_QUEUE)) {
            assertThatThrownBy(() -> server.domain.createSharedReceiveQueue(16, 2))
                    .isInstanceOf(UnsupportedOperationException.class);
            return;
        }
        SharedReceiveQueue shared = server.domain.createSharedReceiveQueue(16, 2);
        Pair first = connect(client.options(), server.options().withSharedReceives(shared));
        Pair second = connect(client.options(), server.options().withSharedReceives(shared));
        for (int i = 0; i < 4; i++) {
            shared.post(server.work.receive().add(server.slice("")).context(i));
        }
        first.near().post(client.work.send().add(client.slice("one"), 0, 4));
        second.near().post(client.work.send().add(client.slice("two"), 0, 4));
        until("messages", () -> server.done.size() == 2);
        assertThat(server.done).extracting(Side.Done::endpoint)
                .containsExactlyInAnyOrder(first.far(), second.far());
        assertThat(shared.posted()).isEqualTo(2);
        assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class);
        first.far().close();
        second.far().close();
        shared.close();
        assertThat(server.domain.use().sharedQueues()).isZero();
    }

    @Test
    void shouldReportSharedReceivesOfClosedEndpoint() throws Exception {
        assumeTrue(server.domain.device().capabilities()
                .contains(Capability.SHARED_RECEIVE_QUEUE), "device shares receives");
        SharedReceiveQueue shared = server.domain.createSharedReceiveQueue(16, 2);
        for (int i = 0; i < 4; i++) {
            shared.post(server.work.receive().add(server.slice("")).context(i));
        }
        Pair pair = connect(client.options(), server.options().withSharedReceives(shared));
        pair.near().post(client.work.send().add(client.slice("one"), 0, 4));
        long end = System.nanoTime() + LIMIT_NANOS;
        while (client.done.isEmpty() && System.nanoTime() - end < 0) {
            client.pump(); // the server does not poll, so the message's completion stays in its device
        }
        pair.far().close();
        server.drain();
        assertThat(server.done).singleElement()
                .satisfies(one -> assertThat(one.endpoint()).isSameAs(pair.far()));
        assertThat(shared.posted()).isEqualTo(3);
        shared.close();
    }

    @Test
    void shouldRegisterNativeMemoryOnly() {
        assertThatThrownBy(() -> client.domain.register(MemorySegment.ofArray(new byte[8]),
                Access.LOCAL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.domain.register(MemorySegment.NULL, Access.LOCAL))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
