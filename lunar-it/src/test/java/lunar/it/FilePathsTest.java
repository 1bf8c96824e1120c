package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.store.FileDevice;
import lunar.store.FileOptions;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests a LUN on a file by each path that data can take between the two. */
@Timeout(180)
class FilePathsTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:paths";
    private static final int BLOCK_BYTES = 512;
    private static final int MAX_BLOCKS = 4096;
    private static final int ROUNDS = 150;

    @TempDir
    Path folder;

    /** Counts what bypasses the target's memory. */
    private static final class Counted extends ForwardingDevice {
        final AtomicLong transferredBytes = new AtomicLong();

        Counted(BlockDevice below) { super(below); }

        @Override
        public void execute(BlockRequest request)
                throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public boolean prefersTransfer(long offsetBytes, long countBytes) {
            return below().prefersTransfer(offsetBytes, countBytes);
        }

        @Override
        public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
                throws IOException {
            long count = below().transferTo(offsetBytes, countBytes, channel);
            transferredBytes.addAndGet(count);
            return count;
        }
    }

    static Stream<Arguments> paths() {
        return Stream.of(FileOptions.Io.values()).flatMap(io -> Stream
                .of("", "?data-digest=crc32c", "?header-digest=crc32c&error-recovery-level=1")
                .map(options -> Arguments.of(io, options)));
    }

    @ParameterizedTest
    @MethodSource("paths")
    void shouldKeepWhatWasWritten(FileOptions.Io io, String options) throws Exception {
        var random = new Random(Seed.next());
        var device = new Counted(FileDevice.open(folder.resolve("disk.img"),
                FileOptions.BUFFERED.withIo(io).withCreateBytes(16 << 20)));
        MemorySegment model = MemorySegment.ofArray(new byte[16 << 20]);
        try (var server = TargetServer.builder()
                .portal(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .target(TargetSpec.of(TARGET).withLun(0, device)).start();
                BlockDevice lun = Devices.open(
                        "iscsi://127.0.0.1:" + server.portals().getFirst().getPort() + "/" + TARGET
                                + "/0" + options);
                Arena arena = Arena.ofShared()) {
            MemorySegment room = arena.allocate(MAX_BLOCKS * BLOCK_BYTES, 4096);
            for (int round = 0; round < ROUNDS; round++) {
                int count = 1 + random.nextInt(1 << random.nextInt(13));
                long lba = random.nextInt((int) lun.blockCount() - count);
                MemorySegment part = room.asSlice(0, (long) count * BLOCK_BYTES);
                MemorySegment expected = model.asSlice(lba * BLOCK_BYTES, part.byteSize());
                if (random.nextBoolean()) {
                    part.fill((byte) random.nextInt());
                    expected.copyFrom(part);
                    lun.write(lba, part);
                } else {
                    lun.read(lba, part);
                    assertThat(part.mismatch(expected)).as("block %d", lba).isEqualTo(-1);
                }
            }
        }
        // With a digest data must be read, and what may be sent again must be kept.
        assertThat(device.transferredBytes.get() > 0)
                .isEqualTo(io == FileOptions.Io.SENDFILE && options.isEmpty());
    }
}
