package lunar.testkit;

import static lunar.testkit.DeviceCalls.DEADLINE_SECONDS;
import static lunar.testkit.DeviceCalls.inParallel;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.AbortedException;
import lunar.block.BlockDevice;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.channel.AsynchronousBlockChannel;
import lunar.block.channel.BlockChannel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Contract tests of {@link BlockChannel} and {@link AsynchronousBlockChannel} on any device. */
public abstract class ChannelContract extends DeviceFixture {
    private static final int BLOCKS = 300;

    /** For subclasses. */
    protected ChannelContract() {}

    @Test
    void shouldMatchArrayUnderRandomTransfersAtAnyByte() throws Exception {
        BlockDevice device = open(BLOCKS);
        int size = BLOCKS * device.blockSize();
        try (var channel = BlockChannel.open(device)) {
            byte[] expected = contentOf(channel, size);
            for (int step = 0; step < 300; step++) {
                int from = random.nextInt(size);
                int length = length(random, size - from, device.blockSize());
                ByteBuffer buffer = buffer(random, length);
                String what = "seed %d step %d: %d bytes at %d".formatted(seed, step, length, from);
                boolean byPosition = random.nextBoolean();
                if (random.nextBoolean()) {
                    fill(buffer, random);
                    buffer.get(buffer.position(), expected, from, length);
                    int count = byPosition
                            ? channel.position(from).write(buffer)
                            : channel.write(buffer, from);
                    assertThat(count).as(what).isEqualTo(length);
                } else {
                    int start = buffer.position();
                    int count = byPosition
                            ? channel.position(from).read(buffer)
                            : channel.read(buffer, from);
                    assertThat(count).as(what).isEqualTo(length);
                    requireEqual(what, buffer.slice(start, length), expected, from);
                }
                assertThat(buffer.remaining()).as(what).isZero();
                if (byPosition) {
                    assertThat(channel.position()).as(what).isEqualTo(from + length);
                }
            }
            assertThat(contentOf(channel, size)).as("seed %d", seed).isEqualTo(expected);
        }
    }

    /** Each writer has bytes of its own in every block. */
    @Test
    void shouldNotLoseBytesOfWritersThatShareBlocks() throws Exception {
        BlockDevice device = open(BLOCKS);
        int writers = 6;
        int piece = 37;
        int size = 20 * device.blockSize();
        byte[] expected = new byte[size];
        random.nextBytes(expected);
        long[] seeds = random.longs(writers).toArray();
        try (var channel = BlockChannel.open(device); var queued = channel.asynchronous()) {
            inParallel(writers, writer -> {
                var own = new Random(seeds[writer]);
                var running = new ArrayList<Future<Integer>>();
                for (int from = writer * piece; from < size; from += writers * piece) {
                    int length = Math.min(piece, size - from);
                    for (int time = 0; time < 3; time++) {
                        byte[] bytes = Arrays.copyOfRange(expected, from, from + length);
                        if (time < 2) {
                            own.nextBytes(bytes);
                        }
                        if (writer % 2 == 0) {
                            channel.write(ByteBuffer.wrap(bytes), from);
                        } else if (time == 2) {
                            running.add(queued.write(ByteBuffer.wrap(bytes), from));
                        } else {
                            get(queued.write(ByteBuffer.wrap(bytes), from));
                        }
                    }
                }
                for (Future<Integer> write : running) {
                    get(write);
                }
            });
            assertThat(contentOf(channel, size)).as("seed %d", seed).isEqualTo(expected);
        }
    }

    @Test
    void shouldHaveThousandsOfOperationsInFlight() throws Exception {
        BlockDevice device = open(BLOCKS);
        int count = 4000;
        int piece = 31;
        byte[] expected = new byte[count * piece];
        random.nextBytes(expected);
        try (var channel = AsynchronousBlockChannel.open(device)) {
            List<ByteBuffer> written = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                written.add(ByteBuffer.wrap(expected, i * piece, piece));
            }
            runAll(written, (i, handler) -> channel.write(written.get(i), (long) i * piece, i,
                    handler));
            channel.force(true);
            List<ByteBuffer> read = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                read.add(buffer(random, piece));
            }
            List<Integer> starts = read.stream().map(ByteBuffer::position).toList();
            runAll(read, (i, handler) -> channel.read(read.get(i), (long) i * piece, i, handler));
            for (int i = 0; i < count; i++) {
                requireEqual("seed %d operation %d".formatted(seed, i),
                        read.get(i).slice(starts.get(i), piece), expected, i * piece);
            }
        }
    }

    private interface Start {
        void of(int operation, CompletionHandler<Integer, Integer> handler);
    }

    /** Starts all, and waits until each handler has been called, once, with all the bytes of its buffer. */
    private void runAll(List<ByteBuffer> buffers, Start start) throws Exception {
        var done = new CountDownLatch(buffers.size());
        var wrong = new AtomicReference<@Nullable String>();
        var calls = new AtomicIntegerArray(buffers.size());
        for (int i = 0; i < buffers.size(); i++) {
            int wanted = buffers.get(i).remaining();
            start.of(i, new CompletionHandler<>() {
                @Override
                public void completed(Integer result, Integer operation) {
                    if (result != wanted || buffers.get(operation).hasRemaining()
                            || calls.incrementAndGet(operation) > 1) {
                        wrong.set("operation " + operation + " ended with " + result);
                    }
                    done.countDown();
                }

                @Override
                public void failed(Throwable failure, Integer operation) {
                    wrong.set("operation " + operation + ": " + failure);
                    done.countDown();
                }
            });
        }
        assertThat(done.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(wrong.get()).as("seed %d", seed).isNull();
    }

    @Test
    void shouldMatchArrayUnderQueuedTransfersAtAnyByte() throws Exception {
        BlockDevice device = open(BLOCKS);
        int size = BLOCKS * device.blockSize();
        try (var channel = BlockChannel.open(device); var queued = channel.asynchronous()) {
            byte[] expected = contentOf(channel, size);
            for (int round = 0; round < 12; round++) {
                var running = new ArrayList<Future<Integer>>();
                int from = random.nextInt(100);
                while (from < size) { // disjoint: their order does not matter
                    int length = length(random, size - from, device.blockSize());
                    ByteBuffer buffer = buffer(random, length);
                    fill(buffer, random);
                    buffer.get(buffer.position(), expected, from, length);
                    running.add(queued.write(buffer, from));
                    from += length + random.nextInt(2) * random.nextInt(5000);
                }
                for (Future<Integer> write : running) {
                    get(write);
                }
                int at = random.nextInt(size);
                ByteBuffer all = ByteBuffer.allocateDirect(size - at);
                assertThat(get(queued.read(all, at))).isEqualTo(size - at);
                requireEqual("seed %d round %d".formatted(seed, round), all.flip(), expected, at);
            }
        }
    }

    @Test
    void shouldReadAndWriteUpToTheEndAndNotBeyond() throws Exception {
        BlockDevice device = open(16);
        long size = device.sizeBytes();
        try (var channel = BlockChannel.open(device); var queued = channel.asynchronous()) {
            assertThat(channel.size()).isEqualTo(size).isEqualTo(queued.size());
            ByteBuffer ten = ByteBuffer
                    .wrap("0123456789".getBytes(StandardCharsets.US_ASCII));
            assertThat(channel.write(ten, size - 4)).isEqualTo(4);
            assertThat(ten.remaining()).isEqualTo(6);
            assertThatThrownBy(() -> channel.write(ten, size))
                    .isInstanceOf(OutOfRangeException.class);
            assertThatThrownBy(() -> get(queued.write(ten, size + 1)))
                    .isInstanceOf(OutOfRangeException.class);
            assertThat(ten.remaining()).isEqualTo(6);
            assertThat(get(queued.write(ten, size - 6))).isEqualTo(6);

            ByteBuffer in = ByteBuffer.allocate(100);
            assertThat(channel.position(size - 6).read(in)).isEqualTo(6);
            assertThat(channel.read(in)).isEqualTo(-1);
            assertThat(channel.position(size + 1000).read(in)).isEqualTo(-1);
            assertThat(channel.position()).isEqualTo(size + 1000);
            assertThat(get(queued.read(in, size))).isEqualTo(-1);
            assertThat(get(queued.read(in, size - 3))).isEqualTo(3);
            assertThat(new String(in.array(), 0, in.position(), StandardCharsets.US_ASCII))
                    .isEqualTo("456789789");
            ByteBuffer none = ByteBuffer.allocate(0);
            assertThat(channel.read(none, size)).isZero();
            assertThat(channel.write(none, size + 5)).isZero();
            assertThat(get(queued.write(none, size))).isZero();
        }
    }

    @Test
    void shouldRejectToTruncate() throws Exception {
        BlockDevice device = open(16);
        long size = device.sizeBytes();
        try (var channel = BlockChannel.open(device); var queued = channel.asynchronous()) {
            SeekableByteChannel file = channel;
            file.position(size + 77);
            assertThat(file.truncate(size + 50).position()).isEqualTo(size + 50);
            assertThat(file.truncate(size).position()).isEqualTo(size);
            assertThatThrownBy(() -> file.truncate(size - 1))
                    .isInstanceOf(NotSupportedException.class);
            assertThatThrownBy(() -> queued.truncate(0)).isInstanceOf(NotSupportedException.class);
            assertThat(queued.truncate(size)).isSameAs(queued);
            assertThat(file.size()).isEqualTo(size);
        }
    }

    /** An interrupted {@code FileChannel} closes for everybody; this one does not, whatever the device does. */
    @Test
    void shouldStayOpenWhenAThreadIsInterrupted() throws Exception {
        BlockDevice device = open(16);
        try (var channel = BlockChannel.open(device)) {
            byte[] bytes = new byte[3000];
            random.nextBytes(bytes);
            ByteBuffer out = ByteBuffer.wrap(bytes);
            Thread.currentThread().interrupt();
            try {
                channel.write(out, 77);
            } catch (AbortedException _) {
                assertThat(out.position()).isZero(); // a device may itself give up
                Thread.interrupted();
                channel.write(out, 77);
                Thread.currentThread().interrupt();
            }
            assertThat(Thread.interrupted()).as("the thread still knows").isTrue();
            assertThat(out.hasRemaining()).isFalse();
            assertThat(channel.isOpen()).isTrue();
            ByteBuffer back = ByteBuffer.allocateDirect(3000);
            assertThat(channel.read(back, 77)).isEqualTo(3000);
            requireEqual("seed " + seed, back.flip(), bytes, 0);
        }
    }

    // --- random transfers ---

    /** Often a few bytes, sometimes whole blocks, sometimes many. */
    private static int length(Random random, int most, int blockSize) {
        int length = switch (random.nextInt(4)) {
            case 0 -> 1 + random.nextInt(20);
            case 1 -> blockSize * (1 + random.nextInt(8));
            case 2 -> 1 + random.nextInt(4 * blockSize);
            default -> 1 + random.nextInt(100_000);
        };
        return Math.min(length, most);
    }

    /** A heap or direct buffer, which begins and ends anywhere within its memory. */
    private static ByteBuffer buffer(Random random, int length) {
        int before = random.nextInt(9);
        int capacity = before + length + random.nextInt(9);
        ByteBuffer memory = random.nextBoolean()
                ? ByteBuffer.allocate(capacity)
                : ByteBuffer.allocateDirect(capacity);
        return memory.position(before).limit(before + length);
    }

    private static void fill(ByteBuffer buffer, Random random) {
        byte[] bytes = new byte[buffer.remaining()];
        random.nextBytes(bytes);
        buffer.put(buffer.position(), bytes);
    }

    private static void requireEqual(String what, ByteBuffer actual, byte[] expected, int from) {
        int differs = actual.mismatch(ByteBuffer.wrap(expected, from, actual.remaining()));
        assertThat(differs).as(what + ": first byte that differs").isEqualTo(-1);
    }

    private static byte[] contentOf(SeekableByteChannel channel, int size) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(size);
        channel.position(0);
        assertThat(channel.read(content)).isEqualTo(size);
        return content.array();
    }

    /** Waits, and throws what the operation failed with. */
    private static int get(Future<Integer> operation) throws IOException {
        try {
            return operation.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new AssertionError(e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }
}
