package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.Extent;
import lunar.block.NoSpaceException;
import lunar.block.Usage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemoryDeviceTest {
    private static final int CHUNK_BYTES = (int) MemoryChunks.CHUNK_BYTES;

    @Test
    void shouldAllocateMemoryOnlyForWrittenBlocks() throws IOException {
        try (var device = MemoryDevice.create(1L << 40, 4096)) {
            MemorySegment buffer = filled(4096, 7);
            device.read(device.blockCount() - 1, buffer);
            assertThat(buffer.mismatch(filled(4096, 0))).isEqualTo(-1);
            assertThat(device.allocatedBytes()).isZero();
            device.write(device.blockCount() - 1, filled(4096, 7));
            device.write(device.blockCount() / 2 + 1, filled(4096, 8));
            assertThat(device.allocatedBytes()).isEqualTo(2 * CHUNK_BYTES);
            device.read(device.blockCount() - 1, buffer);
            assertThat(buffer.mismatch(filled(4096, 7))).isEqualTo(-1);
            device.unmap(0, device.blockCount());
            assertThat(device.allocatedBytes()).isZero();
            device.read(device.blockCount() - 1, buffer);
            assertThat(buffer.mismatch(filled(4096, 0))).isEqualTo(-1);
        }
    }

    @Test
    void shouldTakeNoMemoryForAWriteOfNothing() throws IOException {
        try (MemoryDevice device = MemoryDevice.create(4 * CHUNK_BYTES, 512)) {
            device.execute(new BlockRequest().asWrite(1, 0, MemorySegment.NULL, false));
            assertThat(device.allocatedBytes()).isZero();
        }
    }

    @Test
    void shouldNotShowOldDataInAReusedChunk() throws IOException {
        try (var device = MemoryDevice.create(16L * CHUNK_BYTES, 512)) {
            device.write(0, filled(2 * CHUNK_BYTES, 7));
            device.unmap(0, 2 * CHUNK_BYTES / 512);
            device.write(4 * CHUNK_BYTES / 512 + 3, filled(512, 1));
            MemorySegment back = filled(2 * CHUNK_BYTES, 9);
            device.read(4 * CHUNK_BYTES / 512, back);
            back.asSlice(3 * 512, 512).fill((byte) 0);
            assertThat(back.mismatch(filled(2 * CHUNK_BYTES, 0))).isEqualTo(-1);
        }
    }

    @Test
    void shouldNotReuseAChunkThatIsBeingTransferred() throws IOException {
        try (var device = MemoryDevice.create(16L * CHUNK_BYTES, 512)) {
            device.write(0, filled(CHUNK_BYTES, 7));
            var channel = new FirstByteChannel(() -> {
                device.unmap(0, CHUNK_BYTES / 512);
                device.write(CHUNK_BYTES / 512, filled(CHUNK_BYTES, 9));
            });
            device.transferTo(0, CHUNK_BYTES, channel);
            assertThat(channel.first).as("old or zero, but nothing of another block").isIn(
                    (byte) 7, (byte) 0);
        }
    }

    /** Looks at what it was sent only after something else has happened. */
    private static final class FirstByteChannel implements WritableByteChannel {
        private interface Event {
            void happen() throws IOException;
        }

        private final Event meanwhile;
        byte first = -1;

        FirstByteChannel(Event meanwhile) { this.meanwhile = meanwhile; }

        @Override
        public int write(ByteBuffer source) throws IOException {
            meanwhile.happen();
            int count = source.remaining();
            first = source.get(source.position());
            source.position(source.limit());
            return count;
        }

        @Override
        public boolean isOpen() { return true; }

        @Override
        public void close() {}
    }

    @Test
    void shouldTakeNoMemoryForAWriteThatFindsTooLittle() throws IOException {
        try (var device = MemoryDevice.create(8L * CHUNK_BYTES, 512, 2L * CHUNK_BYTES)) {
            device.write(CHUNK_BYTES / 512, filled(512, 7));
            assertThatThrownBy(() -> device.write(0, filled(3 * CHUNK_BYTES, 1)))
                    .isInstanceOf(NoSpaceException.class);
            assertThat(device.allocatedBytes()).isEqualTo(CHUNK_BYTES);
            assertThat(device.usage()).contains(new Usage(CHUNK_BYTES, CHUNK_BYTES));
            MemorySegment back = filled(512, 0);
            device.read(CHUNK_BYTES / 512, back);
            assertThat(back.mismatch(filled(512, 7))).isEqualTo(-1);
            // Of two chunks that the blocks are in there is memory for one.
            assertThatThrownBy(() -> device.compareAndWrite(5L * CHUNK_BYTES / 512 - 1,
                    filled(2048, 0))).isInstanceOf(NoSpaceException.class);
            assertThat(device.allocatedBytes()).isEqualTo(CHUNK_BYTES);
            device.write(6L * CHUNK_BYTES / 512, filled(CHUNK_BYTES, 3));
        }
    }

    @Test
    void shouldReturnTheCountWrittenToAFullChannel() throws IOException {
        try (var device = MemoryDevice.create(4L * CHUNK_BYTES, 512)) {
            Pipe pipe = Pipe.open();
            try (var source = pipe.source(); var sink = pipe.sink()) {
                sink.configureBlocking(false);
                long taken = device.transferTo(0, 4L * CHUNK_BYTES, sink);
                assertThat(taken).isBetween(1L, 4L * CHUNK_BYTES - 1);
                sink.close();
                long received = 0;
                var buffer = ByteBuffer.allocate(CHUNK_BYTES);
                for (int count = 0; count >= 0; count = source.read(buffer.clear())) {
                    received += count;
                }
                assertThat(received).isEqualTo(taken);
            }
        }
    }

    @Test
    void shouldWriteAndReadAPhysicalBlockAsAWholeUnderManyThreads() throws Exception {
        try (var device = MemoryDevice.create(1 << 20, 512);
                var executor = Executors.newFixedThreadPool(8)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                byte value = (byte) (i + 1);
                running.add(executor.submit(() -> {
                    MemorySegment own = filled(4096, value);
                    MemorySegment back = filled(4096, 0);
                    for (int n = 0; n < 300; n++) {
                        device.write(8, own);
                        device.read(8, back);
                        byte seen = back.get(ValueLayout.JAVA_BYTE, 0);
                        assertThat(back.mismatch(filled(4096, seen))).isEqualTo(-1);
                    }
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldCompareAndWriteAcrossTwoChunks() throws IOException {
        try (var device = MemoryDevice.create(4L * CHUNK_BYTES, 512)) {
            long lba = CHUNK_BYTES / 512 - 1;
            MemorySegment request = filled(4 * 512, 0);
            request.asSlice(1024).fill((byte) 5);
            device.compareAndWrite(lba, request);
            MemorySegment back = filled(1024, 0);
            device.read(lba, back);
            assertThat(back.mismatch(filled(1024, 5))).isEqualTo(-1);
            assertThat(device.allocatedBytes()).isEqualTo(2 * CHUNK_BYTES);
        }
    }

    @Test
    void shouldReportRunsOfChunksAcrossEmptyPartsOfALargeDevice() throws IOException {
        int chunk = CHUNK_BYTES / 4096;
        try (var device = MemoryDevice.create((1L << 40) + 4096, 4096)) {
            long all = device.blockCount();
            assertThat(device.extent(5)).isEqualTo(new Extent(5, all - 5, false));
            device.write(all - 1, filled(4096, 7));
            device.write(3L * chunk + 9, filled(CHUNK_BYTES, 7));
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 3L * chunk, false));
            assertThat(device.extent(3L * chunk + 1))
                    .isEqualTo(new Extent(3L * chunk + 1, 2L * chunk - 1, true));
            assertThat(device.extent(5L * chunk))
                    .isEqualTo(new Extent(5L * chunk, all - 1 - 5L * chunk, false));
            assertThat(device.extent(all - 1)).isEqualTo(new Extent(all - 1, 1, true));
            device.unmap(3L * chunk, chunk);
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 4L * chunk, false));
        }
    }

    @Test
    void shouldBeFullAtItsLimitUntilMemoryIsGivenBack() throws IOException {
        try (var device = MemoryDevice.create(16L * CHUNK_BYTES, 512, 2L * CHUNK_BYTES + 1)) {
            int chunk = CHUNK_BYTES / 512;
            device.write(0, filled(CHUNK_BYTES, 7));
            assertThatThrownBy(() -> device.write(4L * chunk, filled(2 * CHUNK_BYTES, 8)))
                    .isInstanceOf(NoSpaceException.class).hasMessageContaining("512 KiB");
            assertThat(device.allocatedBytes()).isEqualTo(CHUNK_BYTES);
            device.write(4L * chunk, filled(CHUNK_BYTES, 8));
            assertThat(device.allocatedBytes()).isEqualTo(2L * CHUNK_BYTES);
            device.write(chunk - 1, filled(512, 9)); // where memory is there is no need for more
            device.unmap(8L * chunk, chunk);
            device.writeZeroes(9L * chunk, chunk);
            device.unmap(4L * chunk, chunk);
            device.write(12L * chunk, filled(512, 8));
            assertThatThrownBy(() -> device.write(4L * chunk, filled(512, 8)))
                    .isInstanceOf(NoSpaceException.class);
        }
    }

    @Test
    void shouldWriteNothingOfACompareAndWriteThatHasNoSpace() throws IOException {
        try (var device = MemoryDevice.create(16L * CHUNK_BYTES, 512, CHUNK_BYTES)) {
            long lba = CHUNK_BYTES / 512 - 1;
            MemorySegment request = filled(4 * 512, 0);
            request.asSlice(1024).fill((byte) 5);
            assertThatThrownBy(() -> device.compareAndWrite(lba, request))
                    .isInstanceOf(NoSpaceException.class);
            MemorySegment back = filled(1024, 9);
            device.read(lba, back);
            assertThat(back.mismatch(filled(1024, 0))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @CsvSource({"0,512", "-512,512", "513,512", "512,4096", "2251799813685248,512"})
    void shouldRejectImpossibleSizes(long sizeBytes, int blockSize) {
        assertThatThrownBy(() -> MemoryDevice.create(sizeBytes, blockSize))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static MemorySegment filled(int bytes, int value) {
        return MemorySegment.ofArray(new byte[bytes]).fill((byte) value);
    }
}
