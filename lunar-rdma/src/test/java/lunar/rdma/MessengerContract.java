package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import lunar.rdma.message.Message;
import lunar.rdma.message.MessageListener;
import lunar.rdma.message.Messenger;
import lunar.rdma.message.MessengerOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract of blocking calls on every device, with a thread on each side. */
abstract class MessengerContract {
    private static final MessengerOptions OPTIONS = MessengerOptions.DEFAULT
            .withMessageBytes(8192).withDepth(4).withTimeout(60_000);

    private final ExecutorService other = Executors.newSingleThreadExecutor();
    private ProtectionDomain domain;
    private MessageListener listener;
    private Messenger near;
    private Messenger far;

    abstract RdmaDevice device() throws RdmaUnavailableException;

    @BeforeEach
    void open() throws Exception {
        try {
            domain = device().open();
        } catch (RdmaUnavailableException e) {
            System.out.println(getClass().getSimpleName() + " is skipped: " + e.getMessage());
            assumeTrue(false, e.getMessage());
        }
        listener = new MessageListener(domain, new InetSocketAddress("127.0.0.1", 0), OPTIONS);
        var accepted = CompletableFuture.supplyAsync(() -> call(() -> listener.accept(0)), other);
        near = Messenger.connect(domain, listener.address(), OPTIONS, bytes("hello"));
        far = accepted.get();
    }

    @AfterEach
    void close() throws Exception {
        if (listener != null) {
            listener.wakeup();
        }
        other.shutdown(); // and wait: the other thread must not use what is closed below
        assertThat(other.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        if (far != null) {
            near.close();
            far.close();
        }
        if (listener != null) {
            listener.close();
            assertThat(domain.use()).isEqualTo(MemoryUse.NONE);
            domain.close();
        }
    }

    /** A call that may throw any exception. */
    interface Call<T> {
        T run() throws Exception;
    }

    private static <T> T call(Call<T> call) {
        try {
            return call.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private <T> CompletableFuture<T> onOtherThread(Call<T> call) {
        return CompletableFuture.supplyAsync(() -> call(call), other);
    }

    private static byte[] bytes(String text) { return text.getBytes(StandardCharsets.UTF_8); }

    @Test
    void shouldSendAndReceiveCopies() throws Exception {
        var echo = onOtherThread(() -> {
            byte[] buffer = new byte[100];
            for (int i = 0; i < 20; i++) {
                int length = far.receive(buffer, 0);
                far.send(buffer, 0, length);
            }
            return true;
        });
        for (int i = 0; i < 20; i++) {
            near.send(bytes("message " + i));
            assertThat(near.receive(0)).asString().isEqualTo("message " + i);
        }
        assertThat(echo.get()).isTrue();
    }

    @Test
    void shouldSendMoreMessagesThanAreBuffered() throws Exception {
        var sum = onOtherThread(() -> {
            int received = 0;
            while (received < 300) {
                byte[] one = far.receive(0);
                assertThat(one).hasSize(8192).startsWith((byte) received++);
            }
            return received;
        });
        byte[] data = new byte[8192];
        for (int i = 0; i < 300; i++) {
            data[0] = (byte) i;
            near.send(data);
        }
        while (!sum.isDone()) {
            assertThat(near.receive(10)).isNull(); // lets the device make progress
        }
        assertThat(sum.get()).isEqualTo(300);
    }

    @Test
    void shouldSendRegisteredMemoryWithoutCopy() throws Exception {
        var received = onOtherThread(() -> {
            try (Message message = far.receiveMessage(0)) {
                return message.segment().getString(0) + message.bytes();
            }
        });
        try (MemoryPool pool = domain.createPool(1, 4096, Access.LOCAL)) {
            MemorySlice slice = pool.take();
            slice.segment().setString(16, "in place");
            near.send(slice, 16, 9);
            assertThat(slice.posted()).isZero();
        }
        assertThat(received.get()).isEqualTo("in place9");
    }

    @Test
    void shouldPinMemoryForOneSend() throws Exception {
        var received = onOtherThread(() -> far.receive(0));
        MemoryUse before = domain.use();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocateFrom("pinned");
            near.sendPinned(memory);
        }
        assertThat(domain.use()).isEqualTo(before);
        assertThat(received.get()).asString().isEqualTo("pinned\0");
    }

    @Test
    void shouldReadAndWriteMemoryOfPeer() throws Exception {
        try (MemoryPool pool = domain.createPool(2, 4096, Access.ALL)) {
            MemorySlice target = pool.take();
            MemorySlice local = pool.take();
            var driven = onOtherThread(() -> far.receive(0)); // the peer's thread drives its device
            local.segment().setString(0, "written");
            near.write(local, 0, 8, target.remote());
            assertThat(target.segment().getString(0)).isEqualTo("written");
            target.segment().setString(8, "read");
            near.read(local, 100, 5, target.remote().slice(8, 5));
            assertThat(local.segment().getString(100)).isEqualTo("read");
            near.send(bytes("done"));
            assertThat(driven.get()).asString().isEqualTo("done");
        }
    }

    @Test
    void shouldReportFailedOperation() throws Exception {
        try (MemoryPool pool = domain.createPool(1, 4096, Access.LOCAL)) {
            MemorySlice local = pool.take();
            var driven = onOtherThread(() -> {
                assertThatThrownBy(() -> far.receive(0)).isInstanceOf(ConnectionException.class);
                return true;
            });
            assertThatThrownBy(() -> near.write(local, 0, 8, new RemoteMemory(0, 12345, 8)))
                    .isInstanceOf(OperationException.class);
            assertThatThrownBy(() -> near.receive(0)).isInstanceOf(ConnectionException.class);
            assertThatThrownBy(() -> near.send(new byte[1])).isInstanceOf(RdmaException.class);
            near.close(); // some devices report the failure to the peer only now
            assertThat(driven.get()).isTrue();
        }
    }

    @Test
    void shouldReceiveMessagesThatWereSentBeforeClose() throws Exception {
        near.send(bytes("one"));
        near.send(bytes("two"));
        near.close();
        assertThat(far.receive(0)).asString().isEqualTo("one");
        assertThat(far.receive(0)).asString().isEqualTo("two");
        assertThatThrownBy(() -> far.receive(0)).isInstanceOfSatisfying(
                ConnectionException.class, e -> assertThat(e.reason())
                        .isEqualTo(ConnectionException.Reason.LOST));
    }

    @Test
    void shouldTimeOutReceiving() throws Exception {
        assertThat(near.receive(1)).isNull();
        assertThat(near.receive(new byte[1], 1)).isEqualTo(-1);
        assertThat(listener.accept(1)).isNull();
        listener.wakeup();
        assertThat(listener.accept(0)).isNull();
        near.endpoint().disconnect();
        assertThatThrownBy(() -> near.receive(1)).isInstanceOf(ConnectionException.class);
    }

    @Test
    void shouldRefuseMessageThatIsTooLong() {
        assertThatThrownBy(() -> near.send(new byte[8193]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
