package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@link RdmaContract} on libfabric's shm. */
class ShmFabricTest extends RdmaContract {
    private static final int LONG_BYTES = 60_000;

    @Override
    RdmaDevice device() throws RdmaUnavailableException { return Rdma.device("libfabric:shm"); }

    @Override
    int manyConnections() { return 200; } // libfabric maps and fills 16 MB for each

    private static void pumpUntil(Side side, BooleanSupplier condition) throws RdmaException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertThat(i).isLessThan(10_000_000);
            side.pump();
        }
    }

    /** A long message remains in the sender's memory until it is received, which is used otherwise after the close. */
    @Test
    void shouldNotReceiveLongMessageFromClosedEndpoint() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion from = client.domain.register(arena.allocate(LONG_BYTES).fill((byte) 'a'),
                    Set.of());
            MemoryRegion to = server.domain.register(arena.allocate(LONG_BYTES), Access.ALL);
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(from));
            pair.near().close();
            from.segment().fill((byte) 'b');
            pumpUntil(server, () -> !server.disconnected.isEmpty());
            server.pump();
            assertThat(server.done).noneMatch(Side.Done::isSuccess);
            pair.far().close();
            from.close();
            to.close();
        }
    }

    @Test
    void shouldReceiveLongMessageWhoseSendHasCompletedBeforeTheClose() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion from = client.domain.register(arena.allocate(LONG_BYTES).fill((byte) 'a'),
                    Set.of());
            MemoryRegion to = server.domain.register(arena.allocate(LONG_BYTES), Access.ALL);
            pair.far().post(server.work.receive().add(server.slice("")));
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(client.slice("short")));
            pair.near().post(client.work.send().add(from));
            var one = new Completions(1); // the copy of the long message completes beside this
            assertThat(server.queue.poll(one)).isEqualTo(1);
            pumpUntil(client, () -> client.done.size() == 2);
            assertThat(client.done).allMatch(Side.Done::isSuccess);
            pair.near().close();
            from.segment().fill((byte) 'b');
            pumpUntil(server, () -> !server.done.isEmpty());
            assertThat(server.next().isSuccess()).isTrue();
            assertThat(to.segment().get(ValueLayout.JAVA_BYTE, LONG_BYTES - 1))
                    .isEqualTo((byte) 'a');
            from.close();
            pair.far().close();
            to.close();
        }
    }

    @Test
    void shouldHaveWrittenWhenPosted() throws Exception {
        Pair pair = connect();
        int length = 8192;
        try (Arena arena = Arena.ofShared();
                MemoryRegion from = client.domain.register(arena.allocate(length), Set.of())) {
            MemoryRegion to = server.domain.register(arena.allocate(length), Access.ALL);
            from.segment().fill((byte) 'w');
            pair.near().post(client.work.write(to.remote()).add(from));
            assertThat(to.segment().mismatch(from.segment())).isEqualTo(-1); // the peer has done nothing
            to.close();
            to.segment().fill((byte) 0);
            until("completion", () -> !client.done.isEmpty());
            assertThat(client.next().isSuccess()).isTrue();
            assertThat(to.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        }
    }

    /** The peer must be able to tell that an operation failed which the kernel could not perform. */
    @Test
    void shouldReportAccessToMemoryThatThePeerNoLongerHas(@TempDir Path folder) throws Exception {
        Pair pair = connect();
        int length = 8192;
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(folder.resolve("mapped"),
                        StandardOpenOption.CREATE, StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                MemoryRegion into = client.domain.register(arena.allocate(length), Access.LOCAL)) {
            MemoryRegion from = server.domain.register(
                    file.map(FileChannel.MapMode.READ_WRITE, 0, length, arena), Access.ALL);
            file.truncate(0);
            pair.near().post(client.work.read(from.remote()).add(into));
            until("completion", () -> !client.done.isEmpty());
            assertThat(client.next().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            from.close();
        }
    }

    @Test
    void shouldWakeThreadThatWaitsForTheOperationOfAnother() throws Exception {
        Pair pair = connect();
        MemorySlice from = client.slice("from another thread");
        MemorySlice to = server.slice("");
        for (int i = 0; i < 20; i++) {
            var waiting = new CountDownLatch(1);
            var waiter = CompletableFuture.runAsync(() -> {
                try {
                    waiting.countDown();
                    while (client.done.isEmpty()) {
                        client.channel.await(0); // without end, unless somebody wakes it
                        client.drain();
                    }
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
            }, Thread.ofPlatform().daemon()::start);
            waiting.await();
            Thread.sleep(i % 4); // before it sleeps, or after
            pair.near().post(new WorkRequest().write(to.remote()).add(from));
            waiter.get(60, TimeUnit.SECONDS);
            assertThat(client.next().isSuccess()).isTrue();
        }
        assertThat(Side.text(to)).isEqualTo("from another thread");
    }

    /** A message that arrives before its receive is posted completes the receive at once, on the thread that posts. */
    @Test
    void shouldWakeThreadThatWaitsForTheReceiveOfAnother() throws Exception {
        Pair pair = connect();
        MemorySlice from = client.slice("unexpected");
        MemorySlice to = server.slice("");
        for (int i = 0; i < 20; i++) {
            pair.near().post(client.work.send().add(from));
            until("send", () -> !client.done.isEmpty());
            client.done.clear();
            var waiting = new CountDownLatch(1);
            var waiter = CompletableFuture.runAsync(() -> {
                try {
                    waiting.countDown();
                    while (server.done.isEmpty()) {
                        server.channel.await(0); // without end, unless somebody wakes it
                        server.drain();
                    }
                } catch (RdmaException e) {
                    throw new AssertionError(e);
                }
            }, Thread.ofPlatform().daemon()::start);
            waiting.await();
            Thread.sleep(i % 4); // before it sleeps, or after
            pair.far().post(new WorkRequest().receive().add(to));
            waiter.get(60, TimeUnit.SECONDS);
            assertThat(server.next().isSuccess()).isTrue();
        }
        assertThat(Side.text(to)).isEqualTo("unexpected");
    }

    /** libfabric has no room for all messages while the peer does not receive; the caller changes its memory. */
    @Test
    void shouldSendInlineBytesAsTheyWereWhenPosted() throws Exception {
        Pair pair = connect();
        MemorySlice slice = client.pool.take();
        int posted = 0;
        while (true) {
            slice.segment().set(ValueLayout.JAVA_INT, 0, posted);
            if (!pair.near().tryPost(client.work.send().add(slice, 0, Integer.BYTES).inline())) {
                break;
            }
            slice.segment().set(ValueLayout.JAVA_INT, 0, -1);
            posted++;
            client.drain();
            assertThat(posted).isLessThan(100_000);
        }
        client.done.clear();
        MemorySlice into = server.pool.take();
        for (int i = 0; i < posted; i++) {
            pair.far().post(server.work.receive().add(into));
            until("message " + i, () -> !server.done.isEmpty());
            assertThat(server.next().isSuccess()).isTrue();
            assertThat(into.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
        }
    }

    /** What the sender has not polled is not known to be undelivered. */
    @Test
    void shouldReceiveLongMessageAlthoughASendBehindItWasNotPolled() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion from = client.domain.register(arena.allocate(LONG_BYTES), Set.of());
            MemoryRegion to = server.domain.register(arena.allocate(LONG_BYTES), Access.ALL);
            pair.far().post(server.work.receive().add(server.slice("")));
            pair.far().post(server.work.receive().add(to));
            pair.far().post(server.work.receive().add(server.slice("")));
            pair.near().post(client.work.send().add(client.slice("short")));
            pair.near().post(client.work.send().add(from));
            var one = new Completions(1); // the copy of the long message completes beside this
            assertThat(server.queue.poll(one)).isEqualTo(1);
            pumpUntil(client, () -> client.done.size() == 2);
            pair.near().post(client.work.send().add(client.slice("unpolled")));
            pair.near().close();
            pumpUntil(server, () -> !server.done.isEmpty());
            assertThat(server.next().isSuccess()).isTrue();
            from.close();
            pair.far().close();
            to.close();
        }
    }

    /** The memory of an unsignalled operation is in use until a later one has completed. */
    @Test
    void shouldNotReportAWriteBeforeTheMessageBeforeIt() throws Exception {
        Pair pair = connect();
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion from = client.domain.register(arena.allocate(LONG_BYTES), Set.of());
            MemoryRegion to = server.domain.register(arena.allocate(LONG_BYTES), Access.ALL);
            MemorySlice target = server.slice("");
            pair.far().post(server.work.receive().add(to));
            pair.near().post(client.work.send().add(from).unsignalled());
            pair.near().post(client.work.write(target.remote()).add(client.slice("w")).context(1));
            pair.near().post(client.work.write(target.remote()).add(client.slice("w")).context(2));
            for (int i = 0; i < 100; i++) {
                client.pump();
            }
            assertThat(client.done).isEmpty();
            until("writes", () -> client.done.size() == 2);
            assertThat(client.done).extracting(Side.Done::context).containsExactly(1L, 2L);
            assertThat(from.posted()).isZero();
            from.close();
            pair.near().close();
            pair.far().close();
            to.close();
        }
    }

    @Test
    void shouldReceiveWhileWritesCompleteAllTheTime() throws Exception {
        Pair pair = connect(client.options().withDepth(200, 16), server.options());
        MemorySlice target = server.slice("");
        MemorySlice from = client.slice("w");
        pair.near().post(client.work.receive().add(client.slice("")).context(1));
        pair.far().post(server.work.send().add(server.slice("message")));
        var batch = new Completions(16);
        boolean hasReceived = false;
        for (int i = 0; !hasReceived; i++) {
            assertThat(i).isLessThan(100_000);
            while (pair.near().tryPost(client.work.write(target.remote()).add(from))) {
                // the queue is full of writes that have completed
            }
            int count = client.queue.poll(batch);
            for (int j = 0; j < count; j++) {
                assertThat(batch.get(j).isSuccess()).isTrue();
                hasReceived |= batch.get(j).operation() == Operation.RECEIVE;
            }
        }
    }
}
