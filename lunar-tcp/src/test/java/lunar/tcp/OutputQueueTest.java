package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.iscsi.framing.Crc32c;
import lunar.iscsi.framing.DirectMemory;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.spi.Transport.Release;
import lunar.iscsi.spi.Transport.Source;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class OutputQueueTest {
    /** A socket that takes what it likes. */
    private static final class Sink implements GatheringByteChannel {
        final ByteArrayOutputStream taken = new ByteArrayOutputStream();
        /** Bytes that it takes until it takes no more. */
        long room;

        @Override
        public long write(ByteBuffer[] from, int offset, int length) {
            long sum = 0;
            for (int i = offset; i < offset + length; i++) {
                sum += write(from[i]);
            }
            return sum;
        }

        @Override
        public int write(ByteBuffer from) {
            byte[] bytes = new byte[(int) Math.min(room, from.remaining())];
            from.get(bytes);
            taken.writeBytes(bytes);
            room -= bytes.length;
            return bytes.length;
        }

        @Override
        public long write(ByteBuffer[] from) { return write(from, 0, from.length); }

        @Override
        public boolean isOpen() { return true; }

        @Override
        public void close() {}
    }

    @Test
    void shouldWriteTheStreamInAnySegmentation() throws IOException {
        for (int round = 0; round < 60; round++) {
            long seed = Seed.next();
            var random = new Random(seed);
            var chunks = new Chunks();
            var queue = new OutputQueue(chunks, _ -> {});
            var framing = new Framing(random.nextBoolean(), random.nextBoolean(), 0, 0);
            queue.framing(framing);
            var sink = new Sink();
            var expected = new ByteArrayOutputStream();
            MemorySegment[] memory = memory(random);
            List<Integer> lent = new ArrayList<>();
            List<Integer> released = new ArrayList<>();
            // Where each lent segment ends in the stream, before which it must not be released.
            List<Integer> ends = new ArrayList<>();
            int mean = 1 << random.nextInt(1, 21);
            for (int i = 0; i < 200; i++) {
                MemorySegment whole = memory[random.nextInt(memory.length)];
                MemorySegment data = random.nextBoolean()
                        ? whole
                        : whole.asSlice(0, random.nextLong(whole.byteSize() + 1));
                int number = i;
                int end = frame(expected, i, data, framing);
                boolean transfers = !framing.dataDigest() && data.byteSize() > 0
                        && data.byteSize() % 4 == 0 && random.nextBoolean();
                if (transfers) {
                    queue.add(Endpoint.header(i, data.byteSize()), source(data), 1000,
                            () -> released.add(number));
                    lent.add(i);
                    ends.add(end);
                } else if (!queue.add(Endpoint.header(i, data.byteSize()), data,
                        () -> released.add(number))) {
                    lent.add(i);
                    ends.add(end);
                }
                assertThat(queue.queuedBytes()).as("seed %d", seed)
                        .isEqualTo(expected.size() - sink.taken.size());
                if (random.nextInt(4) == 0) {
                    sink.room = random.nextInt(2 * mean);
                    boolean all = queue.writeTo(sink);
                    assertThat(all).as("seed %d", seed)
                            .isEqualTo(expected.size() == sink.taken.size());
                    release(queue);
                    int sent = (int) ends.stream().filter(at -> at <= sink.taken.size()).count();
                    assertThat(released).as("seed %d", seed).isEqualTo(lent.subList(0, sent));
                }
            }
            if (round % 5 == 0) {
                queue.clear();
            } else {
                sink.room = Long.MAX_VALUE;
                assertThat(queue.writeTo(sink)).isTrue();
                assertThat(sink.taken.toByteArray()).as("seed %d", seed)
                        .isEqualTo(expected.toByteArray());
            }
            release(queue);
            assertThat(released).as("seed %d", seed).isEqualTo(lent);
            assertThat(queue.isEmpty()).isTrue();
            assertThat(queue.queuedBytes()).isZero();
            assertThat(chunks.inUse()).as("seed %d", seed).isZero();
        }
    }

    /** Data that begin at 1000 of what sends them itself. */
    private static Source source(MemorySegment data) {
        return (offset, count, channel) -> channel
                .write(data.asSlice(offset - 1000, count).asByteBuffer());
    }

    @Test
    void shouldReportMissingCapabilitiesOfASource() {
        var queue = new OutputQueue(new Chunks(), _ -> {});
        queue.add(Endpoint.header(1, 8), (_, _, _) -> {
            throw new IOException("gone");
        }, 0, Release.NOTHING);
        var sink = new Sink();
        sink.room = Long.MAX_VALUE;
        assertThatIOException().isThrownBy(() -> queue.writeTo(sink)).withMessage("gone");
        queue.framing(new Framing(false, true, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> queue.add(Endpoint.header(1, 8), source(MemorySegment.NULL), 0,
                        Release.NOTHING));
    }

    @Test
    void shouldNotQueueReleasedData() throws IOException {
        for (int length : new int[]{100, 10_000}) {
            var queue = new OutputQueue(new Chunks(), _ -> {});
            queue.framing(new Framing(true, true, 0, 0));
            MemorySegment gone;
            try (Arena arena = Arena.ofShared()) {
                gone = arena.allocate(length);
            }
            assertThatIllegalStateException().isThrownBy(
                    () -> queue.add(Endpoint.header(1, length), gone, Release.NOTHING));
            assertThat(queue.queuedBytes()).isZero();
            queue.add(Endpoint.header(2, 0), MemorySegment.NULL, Release.NOTHING);
            var sink = new Sink();
            sink.room = Long.MAX_VALUE;
            assertThat(queue.writeTo(sink)).isTrue();
            var expected = new ByteArrayOutputStream();
            int _ = frame(expected, 2, MemorySegment.NULL, new Framing(true, true, 0, 0));
            assertThat(sink.taken.toByteArray()).isEqualTo(expected.toByteArray());
        }
    }

    private static void release(OutputQueue queue) {
        Release release;
        while ((release = queue.pollWritten()) != null) {
            release.release();
        }
    }

    /** Some of each kind, short ones and long ones. */
    private static MemorySegment[] memory(Random random) {
        MemorySegment[] memory = new MemorySegment[12];
        for (int i = 0; i < memory.length; i++) {
            int length = random.nextInt(i % 2 == 0 ? 9000 : 200_000);
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            MemorySegment heap = MemorySegment.ofArray(bytes);
            memory[i] = switch (i % 3) {
                case 0 -> heap;
                case 1 -> Arena.ofAuto().allocate(length).copyFrom(heap);
                default -> DirectMemory.allocate(length, 64).copyFrom(heap);
            };
        }
        return memory;
    }

    /** Adds the bytes of a PDU; returns where its data end. */
    private static int frame(ByteArrayOutputStream out, int tag, MemorySegment data,
            Framing framing) {
        MemorySegment header = Endpoint.header(tag, data.byteSize());
        out.writeBytes(header.toArray(ValueLayout.JAVA_BYTE));
        if (framing.headerDigest()) {
            number(out, Crc32c.of(header));
        }
        out.writeBytes(data.toArray(ValueLayout.JAVA_BYTE));
        int end = out.size();
        out.writeBytes(new byte[(int) (-data.byteSize() & 3)]);
        if (framing.dataDigest() && data.byteSize() > 0) {
            number(out, Crc32c.of(data));
        }
        return end;
    }

    private static void number(ByteArrayOutputStream out, int value) {
        out.writeBytes(ByteBuffer.allocate(4).putInt(value).array());
    }
}
