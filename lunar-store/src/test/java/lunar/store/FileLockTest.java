package lunar.store;

import static lunar.store.FileDeviceTest.isLocked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;
import lunar.block.StorageException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests how long a file stays locked against other processes. */
class FileLockTest {
    private static final int BLOCK = 4096;
    private static final FileOptions NEW = FileOptions.BUFFERED.withBlockSize(BLOCK)
            .withCreateBytes(1 << 20);

    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void name() { file = folder.resolve("disk.img"); }

    private static MemorySegment aligned() { return Arena.ofAuto().allocate(BLOCK, BLOCK); }

    @ParameterizedTest
    @EnumSource(FileOptions.Io.class)
    void shouldKeepTheLockUntilTheLastRequestHasEnded(FileOptions.Io io) throws Exception {
        FileDevice device = FileDevice.open(file, NEW.withIo(io).withWorkers(1));
        var started = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        device.submit(new BlockRequest().asFlush().onCompletion((_, _) -> {
            started.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
        var waiting = device.submitFlush();
        Thread closer = Thread.ofPlatform().start(() -> close(device));
        // Close fails what waits for a worker; before that it has ended the ring, if there is one.
        assertThatThrownBy(() -> waiting.get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(DeviceGoneException.class);
        assertThat(isLocked(file)).isTrue();
        go.countDown();
        assertThat(closer.join(Duration.ofSeconds(60))).isTrue();
        assertThat(isLocked(file)).isFalse();
    }

    private static void close(FileDevice device) {
        try {
            device.close();
        } catch (StorageException e) {
            throw new AssertionError(e);
        }
    }

    /** As any part of the process may, or a library; POSIX locks would be gone then. */
    @Test
    void shouldKeepTheLockWhenTheProcessClosesAnotherDescriptorOfTheFile() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        try (FileDevice device = FileDevice.open(file, NEW)) {
            FileChannel.open(file).close();
            assertThat(isLocked(file)).isTrue();
            device.flush();
        }
    }

    /** To close it would release the lock where it is a POSIX lock. */
    @Test
    void shouldNotLookAtAFileThatThisProcessHasLocked() throws Exception {
        var look = FileOptions.BUFFERED.withReadOnly(true).withLocked(false);
        FileDevice.open(file, NEW).close();
        try (FileHandle _ = FileHandle.openPortably(file, true)) {
            assertThatThrownBy(() -> FileDevice.open(file, look))
                    .isInstanceOf(BusyException.class)
                    .hasMessageContaining("already in use by this process");
            assertThat(isLocked(file)).isTrue();
        }
        FileDevice.open(file, look).close();
        FileDevice.open(file, NEW).close();
    }

    @ParameterizedTest
    @EnumSource(FileOptions.Io.class)
    void shouldFailOnAllPathsOnceTheFileIsAnother(FileOptions.Io io) throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        try (FileDevice device = FileDevice.open(file, NEW.withIo(io))) {
            MemorySegment buffer = aligned();
            device.write(0, buffer);
            Optional<DeviceLabels> labels = device.labels();
            Files.move(file, folder.resolve("other"));
            Files.write(file, new byte[1 << 20]);
            Thread.currentThread().interrupt();
            // Heap memory that is not aligned: by the channel, which the interrupt closes.
            assertThatThrownBy(() -> device.write(0, MemorySegment.ofArray(new byte[BLOCK])))
                    .isInstanceOf(DeviceGoneException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(() -> device.write(0, buffer))
                    .isInstanceOf(DeviceGoneException.class);
            assertThatThrownBy(device::flush).isInstanceOf(DeviceGoneException.class);
            assertThatThrownBy(() -> device.extent(0)).isInstanceOf(DeviceGoneException.class);
            assertThatThrownBy(() -> device.submitRead(0, buffer).get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(DeviceGoneException.class);
            assertThat(device.prefersTransfer(0, 1 << 20)).isFalse();
            if (labels.isPresent()) {
                assertThatThrownBy(() -> labels.get().read("any"))
                        .isInstanceOf(DeviceGoneException.class)
                        .hasMessageContaining("a different file now");
            }
        }
    }

    /** Without locks of open file descriptions an interrupt gives the lock up for a moment. */
    @Test
    void shouldBeGoneForGoodOnceAnotherProcessHadTheLock() throws Exception {
        FileDevice.open(file, NEW).close();
        try (FileHandle handle = FileHandle.openPortably(file, true)) {
            assertThat(isLocked(file)).isTrue();
            FileChannel.open(file).close(); // the lock is gone
            Process holder = LockHolder.start(file, "exclusive");
            try {
                assertThat(holder.inputReader().readLine()).isEqualTo("locked");
                Thread.currentThread().interrupt();
                requireGone(handle);
                assertThat(Thread.interrupted()).isTrue();
            } finally {
                holder.getOutputStream().close();
                assertThat(holder.waitFor(60, TimeUnit.SECONDS)).isTrue();
            }
            requireGone(handle); // it may have written anything
        }
        FileDevice.open(file, NEW).close();
    }

    private static void requireGone(FileHandle handle) throws IOException {
        assertThatThrownBy(() -> handle.write(ByteBuffer.allocate(BLOCK), 0))
                .isInstanceOf(DeviceGoneException.class);
        assertThatThrownBy(handle::requireHeld).isInstanceOf(DeviceGoneException.class);
    }
}
