package lunar.block.channel;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.InvalidRequestException;
import lunar.block.ToyDevice;
import lunar.block.WriteProtectedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that need a device that completes requests on demand. */
@Timeout(60)
class BlockChannelTest {
    private final ToyDevice device = new ToyDevice(64);

    private List<String> heldRequests() {
        return device.held.stream().map(BlockRequest::toString).toList();
    }

    private static ByteBuffer bytes(int count) { return ByteBuffer.allocate(count); }

    private static Throwable failureOf(Future<Integer> operation) throws Exception {
        try {
            throw new AssertionError("succeeded: " + operation.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    @Test
    void shouldOpenForWhatIsAskedAndPossible() throws Exception {
        assertThatThrownBy(() -> BlockChannel.open(device, WRITE).read(bytes(1)))
                .isInstanceOf(NonReadableChannelException.class);
        assertThatThrownBy(() -> BlockChannel.open(device, READ).write(bytes(1)))
                .isInstanceOf(NonWritableChannelException.class);
        assertThatThrownBy(() -> BlockChannel.open(device, APPEND))
                .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("APPEND");
        device.readOnly = true;
        assertThatThrownBy(() -> BlockChannel.open(device, READ, WRITE))
                .isInstanceOf(WriteProtectedException.class);
        assertThatThrownBy(() -> AsynchronousBlockChannel.open(device, WRITE))
                .isInstanceOf(WriteProtectedException.class);
        BlockChannel channel = BlockChannel.open(device);
        assertThat(channel.read(bytes(5))).isEqualTo(5);
        assertThatThrownBy(() -> channel.write(bytes(1)))
                .isInstanceOf(NonWritableChannelException.class);
        assertThatThrownBy(() -> channel.truncate(0))
                .isInstanceOf(NonWritableChannelException.class);
        assertThatThrownBy(() -> channel.asynchronous().write(bytes(1), 0))
                .isInstanceOf(NonWritableChannelException.class);
    }

    @Test
    void shouldThrowForArgumentsThatAreWrong() throws Exception {
        BlockChannel channel = BlockChannel.open(device);
        var queued = channel.asynchronous();
        assertThatThrownBy(() -> channel.read(bytes(1), -1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> channel.position(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> channel.truncate(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> channel.read(bytes(1).asReadOnlyBuffer()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queued.write(bytes(1), -1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queued.read(bytes(1).asReadOnlyBuffer(), 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> queued.tryLock())
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> queued.lock()).isInstanceOf(UnsupportedOperationException.class);
        assertThat(channel.write(bytes(3).asReadOnlyBuffer(), 9)).isEqualTo(3);
    }

    @Test
    void shouldWriteThroughWithDsync() throws Exception {
        device.holding = true;
        var queued = AsynchronousBlockChannel.open(device, DSYNC, WRITE);
        var _ = queued.write(bytes(512), 1024);
        assertThat(heldRequests()).containsExactly("WRITE lba=2 blocks=1 FUA");
        device.releaseOne();
    }

    @Test
    void shouldTakeWholeBlocksAsTheyAreAndCopyOnlyTheEnds() throws Exception {
        device.holding = true;
        var queued = AsynchronousBlockChannel.open(device);
        ByteBuffer large = bytes(20 * 1024);
        var write = queued.write(large, 500);
        assertThat(heldRequests()).containsExactly("READ lba=0 blocks=1", "WRITE lba=1 blocks=39",
                "READ lba=40 blocks=1");
        for (int i = 0; i < 5; i++) {
            device.releaseOne();
        }
        assertThat(write.get(60, TimeUnit.SECONDS)).isEqualTo(20 * 1024);
        var small = queued.write(bytes(1000), 500);
        assertThat(heldRequests()).containsExactly("READ lba=0 blocks=3");
        device.releaseOne();
        assertThat(heldRequests()).containsExactly("WRITE lba=0 blocks=3");
        device.releaseOne();
        assertThat(small.get(60, TimeUnit.SECONDS)).isEqualTo(1000);
    }

    /** The second reads the block only when the first has written it. */
    @Test
    void shouldKeepWritesOfOneBlockApart() throws Exception {
        device.holding = true;
        var queued = AsynchronousBlockChannel.open(device);
        var first = queued.write(bytes(10).put(0, (byte) 1), 0);
        var second = queued.write(bytes(10).put(0, (byte) 2), 10);
        var whole = queued.write(bytes(512).put(20, (byte) 3), 0);
        var other = queued.write(bytes(10).put(0, (byte) 4), 512);
        assertThat(heldRequests()).containsExactly("READ lba=0 blocks=1", "READ lba=1 blocks=1");
        while (!device.held.isEmpty()) {
            device.releaseOne();
        }
        for (var write : List.of(first, second, whole, other)) {
            assertThat(write.get(60, TimeUnit.SECONDS)).isPositive();
        }
        ByteBuffer content = bytes(1024);
        device.holding = false;
        assertThat(BlockChannel.open(device).read(content)).isEqualTo(1024);
        assertThat(content.get(20)).isEqualTo((byte) 3);
        assertThat(content.get(0)).isZero();
        assertThat(content.get(512)).isEqualTo((byte) 4);
    }

    @Test
    void shouldLetGoOfBlocksWhenAWriteFails() throws Exception {
        var channel = BlockChannel.open(device);
        var queued = channel.asynchronous();
        device.readOnly = true;
        ByteBuffer buffer = bytes(10);
        assertThat(failureOf(queued.write(buffer, 7))).isInstanceOf(WriteProtectedException.class);
        assertThatThrownBy(() -> channel.write(buffer))
                .isInstanceOf(WriteProtectedException.class);
        assertThat(buffer.position()).isZero();
        assertThat(channel.position()).isZero();
        device.readOnly = false;
        assertThat(queued.write(buffer, 7).get(60, TimeUnit.SECONDS)).isEqualTo(10);
        assertThat(channel.write(buffer.clear())).isEqualTo(10);
    }

    @Test
    void shouldEndOperationsOfAClosedChannelWhenTheDeviceHasLetGo() throws Exception {
        device.holding = true;
        var channel = AsynchronousBlockChannel.open(device);
        var read = channel.read(bytes(512), 0);
        var write = channel.write(bytes(10), 512);
        assertThat(read.cancel(true)).isFalse();
        channel.close();
        channel.close();
        assertThat(channel.isOpen()).isFalse();
        assertThat(read.isDone()).isFalse();
        device.releaseOne();
        device.releaseOne();
        assertThat(failureOf(read)).isInstanceOf(AsynchronousCloseException.class);
        assertThat(failureOf(write)).isInstanceOf(AsynchronousCloseException.class);
        assertThat(device.held).as("the write's second half").isEmpty();
        assertThat(failureOf(channel.read(bytes(1), 0)))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(channel::size).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> channel.force(true)).isInstanceOf(ClosedChannelException.class);
        assertThat(device.closed).isFalse();
    }

    @Test
    void shouldRefuseEverythingOnceClosed() throws Exception {
        var channel = BlockChannel.open(device);
        try (var other = channel.asynchronous()) {
            channel.close();
            assertThatThrownBy(() -> channel.read(bytes(1)))
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> channel.write(bytes(1)))
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(channel::position).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(() -> channel.position(0))
                    .isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(channel::size).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(channel::force).isInstanceOf(ClosedChannelException.class);
            assertThat(other.read(bytes(1), 0).get(60, TimeUnit.SECONDS)).isEqualTo(1);
        }
    }

    @Test
    void shouldGiveTheDeviceNoMoreThanItTakesAtOnce() throws Exception {
        device.holding = true;
        var channel = AsynchronousBlockChannel.open(device);
        var running = new ArrayList<Future<Integer>>();
        int count = RequestWindow.MAX_AT_DEVICE + RequestWindow.MAX_WAITING;
        for (int i = 0; i < count; i++) {
            running.add(channel.read(bytes(512), 0));
        }
        assertThat(device.held).hasSize(RequestWindow.MAX_AT_DEVICE);
        assertThat(failureOf(channel.read(bytes(512), 0))).isInstanceOf(BusyException.class);
        assertThat(failureOf(channel.write(bytes(7), 0))).isInstanceOf(BusyException.class);
        for (int i = 0; i < count; i++) {
            device.releaseOne();
        }
        for (Future<Integer> read : running) {
            assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo(512);
        }
    }

    /** The handler is called although its executor was shut down. */
    @Test
    void shouldTellAHandlerWhoseExecutorRefuses() throws Exception {
        var ended = new CompletableFuture<String>();
        var channel = AsynchronousBlockChannel.open(device, _ -> {
            throw new RejectedExecutionException();
        });
        channel.read(bytes(9), 3, "attached", new CompletionHandler<Integer, String>() {
            @Override
            public void completed(Integer result, String attachment) {
                ended.complete(result + " " + attachment);
            }

            @Override
            public void failed(Throwable failure, String attachment) {
                ended.completeExceptionally(failure);
            }
        });
        assertThat(ended.get(60, TimeUnit.SECONDS)).isEqualTo("9 attached");
    }

    @Test
    void shouldRefuseMemoryThatOtherThreadsCannotUse() throws Exception {
        try (var arena = Arena.ofConfined()) {
            ByteBuffer confined = arena.allocate(1000).asByteBuffer();
            var channel = BlockChannel.open(device);
            assertThat(channel.write(confined, 3)).isEqualTo(1000);
            device.holding = true;
            var read = channel.asynchronous().read(confined.clear(), 3);
            Thread.ofPlatform().start(device::releaseOne).join();
            assertThat(failureOf(read)).isInstanceOf(InvalidRequestException.class);
        }
    }
}
