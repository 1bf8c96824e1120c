package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.block.WriteProtectedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FileDeviceTest {
    private static final FileOptions NEW = FileOptions.BUFFERED.withCreateBytes(1 << 20);

    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void name() { file = folder.resolve("disk.img"); }

    @Test
    void shouldCreateASparseFileThatKeepsItsSizeAndIdentity() throws IOException {
        FileOptions large = FileOptions.BUFFERED.withCreateBytes(1L << 40);
        try (FileDevice device = FileDevice.open(file, large)) {
            assertThat(device.sizeBytes()).isEqualTo(1L << 40);
            device.write(device.blockCount() - 1, filled(512, 1));
            var identity = device.identity();
            device.close();
            try (FileDevice again = FileDevice.open(file, FileOptions.BUFFERED)) {
                assertThat(again.identity()).isEqualTo(identity);
                assertThat(again.geometry()).isEqualTo(device.geometry());
            }
        }
        // A path to it by another name is the same device.
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        try (FileDevice byFile = FileDevice.open(link, large)) {
            var identity = byFile.identity();
            byFile.close();
            try (FileDevice byLink = FileDevice.open(file, large)) {
                assertThat(byLink.identity()).isEqualTo(identity);
            }
        }
    }

    @Test
    void shouldReportItsSpaceUsage() throws IOException {
        assumeTrue(LinuxFile.isAvailable());
        try (FileDevice device = FileDevice.open(file,
                FileOptions.BUFFERED.withCreateBytes(4 << 20))) {
            long before = device.usage().orElseThrow().usedBytes();
            device.writeThrough(0, filled(1 << 20, 1));
            Usage after = device.usage().orElseThrow();
            assertThat(after.usedBytes() - before).isGreaterThanOrEqualTo(1 << 20);
            assertThat(after.availableBytes()).isBetween(0L, (4L << 20) - after.usedBytes());
            device.unmap(0, 2048);
            assertThat(device.usage().orElseThrow().usedBytes()).isLessThan(after.usedBytes());
        }
    }

    @ParameterizedTest
    @EnumSource(FileOptions.Io.class)
    void shouldWorkForAThreadWithItsInterruptFlagSetAndKeepTheFlag(FileOptions.Io io)
            throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW.withIo(io).withBlockSize(4096))) {
            MemorySegment back = Arena.ofAuto().allocate(8192, 4096);
            MemorySegment data = Arena.ofAuto().allocate(8192, 4096).fill((byte) 3);
            Thread.currentThread().interrupt();
            device.write(2, data);
            device.flush();
            device.read(2, back);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(back.mismatch(data)).isEqualTo(-1);
            device.submitRead(2, back.fill((byte) 0)).get(60, TimeUnit.SECONDS);
            assertThat(back.mismatch(data)).isEqualTo(-1);
            assertThat(isLocked(file)).isTrue();
        }
    }

    @Test
    void shouldNotHurtOtherThreadsWhenOneIsInterrupted() throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW)) {
            var stop = new AtomicBoolean();
            var failure = new AtomicReference<StorageException>();
            Thread victim = Thread.ofPlatform().start(() -> {
                do { // once at least, however busy the machine is
                    try {
                        device.write(0, filled(4096, 1));
                    } catch (StorageException e) {
                        failure.compareAndSet(null, e);
                    }
                } while (!stop.get());
            });
            for (int i = 0; i < 200; i++) {
                victim.interrupt();
                device.write(100, filled(512, i));
                MemorySegment back = filled(512, 0);
                device.read(100, back);
                assertThat(back.mismatch(filled(512, i))).isEqualTo(-1);
            }
            stop.set(true);
            assertThat(victim.join(Duration.ofSeconds(60))).isTrue();
            assertThat(failure).hasNullValue();
            MemorySegment back = filled(4096, 0);
            device.read(0, back);
            assertThat(back.mismatch(filled(4096, 1))).isEqualTo(-1);
        }
    }

    @Test
    void shouldEndAnInterruptedTransferButNotTheDevice() throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> device.transferTo(0, 4096,
                    Channels.newChannel(OutputStream.nullOutputStream())))
                    .isInstanceOf(IOException.class);
            assertThat(Thread.interrupted()).isTrue();
            var bytes = new ByteArrayOutputStream();
            assertThat(device.transferTo(0, 4096, Channels.newChannel(bytes))).isEqualTo(4096);
        }
    }

    @Test
    void shouldBeGoneWhenTheFileWasReplacedWhileItHadToBeOpenedAgain() throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW)) {
            Files.move(file, folder.resolve("other"));
            Files.write(file, new byte[1 << 20]);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> device.write(0, filled(512, 1)))
                    .isInstanceOf(DeviceGoneException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldRejectAFileThatIsInUse() throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW)) {
            assertThatThrownBy(() -> FileDevice.open(file, NEW)).isInstanceOf(BusyException.class)
                    .hasMessageContaining("in use by this process");
            assertThat(isLocked(file)).isTrue();
            device.flush();
        }
        assertThat(isLocked(file)).isFalse();
    }

    @Test
    void shouldRejectAFileThatAnotherProcessUsesAndShareItAmongReaders() throws Exception {
        FileDevice.open(file, NEW).close();
        for (String mode : List.of("exclusive", "shared")) {
            Process holder = LockHolder.start(file, mode);
            try {
                assertThat(holder.inputReader().readLine()).isEqualTo("locked");
                assertThatThrownBy(() -> FileDevice.open(file, NEW))
                        .isInstanceOf(BusyException.class)
                        .hasMessageContaining("in use by another process");
                FileOptions reader = FileOptions.BUFFERED.withReadOnly(true);
                if (mode.equals("shared")) {
                    FileDevice.open(file, reader).close();
                } else {
                    assertThatThrownBy(() -> FileDevice.open(file, reader))
                            .isInstanceOf(BusyException.class);
                }
            } finally {
                holder.getOutputStream().close();
                assertThat(holder.waitFor(60, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    /** Asks the kernel's list of locks, in which the file's inode stands behind its disk. */
    static boolean isLocked(Path file) throws IOException {
        Path locks = Path.of("/proc/locks");
        assumeTrue(Files.isReadable(locks), "no /proc/locks here");
        String inode = ":" + Files.getAttribute(file, "unix:ino") + " ";
        return Files.readAllLines(locks).stream().anyMatch(line -> line.contains(inode));
    }

    @Test
    void shouldReportInvalidDeviceFileInOneLine() throws IOException {
        Path odd = Files.write(folder.resolve("odd"), new byte[1000]);
        Path empty = Files.createFile(folder.resolve("empty"));
        Path small = Files.write(folder.resolve("small"), new byte[512]);
        requireRefusal(file, FileOptions.BUFFERED, "does not exist");
        requireRefusal(file, NEW.withReadOnly(true), "cannot create");
        requireRefusal(folder.resolve("none/disk"), NEW, "none does not exist");
        requireRefusal(folder, FileOptions.BUFFERED, "is a directory");
        requireRefusal(odd, FileOptions.BUFFERED, "not a multiple of 512");
        requireRefusal(empty, FileOptions.BUFFERED, "is empty");
        requireRefusal(small, NEW, "exists with 512 bytes, not the requested size=1048576");
        requireRefusal(small, FileOptions.BUFFERED.withBlockSize(4096), "not a multiple of 4096");
        requireRefusal(small, FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT),
                "io=direct needs");
        requireRefusal(Path.of("/dev/null"), FileOptions.BUFFERED, "not a regular file");
        assertThat(file).doesNotExist();
        FileDevice.open(empty, NEW).close();
        assertThat(Files.size(empty)).isEqualTo(1 << 20);
    }

    private static void requireRefusal(Path path, FileOptions options, String message) {
        assertThatThrownBy(() -> FileDevice.open(path, options))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message)
                .hasMessageContaining(path.getFileName().toString())
                .hasMessageNotContaining("\n");
    }

    @Test
    void shouldOpenAFileThatMayOnlyBeReadAsReadOnlyAlone() throws Exception {
        // Root may write any file but one on a file system that is read-only.
        Path mount = Files.createDirectory(folder.resolve("mount"));
        LoopDisk.run(List.of("mount", "-t", "tmpfs", "-o", "size=1m", "none", mount.toString()));
        try {
            Path image = Files.write(mount.resolve("disk.img"), new byte[8192]);
            LoopDisk.run(List.of("mount", "-o", "remount,ro", mount.toString()));
            assertThatThrownBy(() -> FileDevice.open(image, FileOptions.BUFFERED))
                    .isInstanceOf(WriteProtectedException.class)
                    .hasMessageContaining("read-only=true");
            try (var device = FileDevice.open(image, FileOptions.BUFFERED.withReadOnly(true))) {
                device.read(0, filled(512, 0));
            }
        } finally {
            LoopDisk.run(List.of("umount", mount.toString()));
        }
    }

    @Test
    void shouldReportWhenTheFileSystemIsFull() throws Exception {
        Path mount = Files.createDirectory(folder.resolve("mount"));
        LoopDisk.run(List.of("mount", "-t", "tmpfs", "-o", "size=1m", "none", mount.toString()));
        try (var device = FileDevice.open(mount.resolve("disk.img"),
                FileOptions.BUFFERED.withCreateBytes(8 << 20))) {
            assertThatThrownBy(() -> device.write(0, filled(4 << 20, 1)))
                    .isInstanceOf(NoSpaceException.class).hasMessageContaining("WRITE lba=0");
            if (device.supports(Capability.UNMAP)) {
                device.unmap(0, device.blockCount());
                device.write(0, filled(512 << 10, 1));
            }
        } finally {
            LoopDisk.run(List.of("umount", mount.toString()));
        }
    }

    @Test
    void shouldDistinguishFullFromBrokenByErrno() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "no /dev/full here");
        try (var channel = FileChannel.open(full, StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(10)))
                    .isInstanceOfSatisfying(IOException.class,
                            e -> assertThat(IoFailure.of("WRITE", e))
                                    .isInstanceOf(NoSpaceException.class));
        }
        assertThat(IoFailure.of("READ lba=1", new IOException("Input/output error")))
                .isInstanceOf(MediumException.class)
                .hasMessage("READ lba=1: Input/output error");
    }

    @Test
    void shouldReportAMediumErrorWhenTheFileWasCutOff() throws IOException {
        try (FileDevice device = FileDevice.open(file, NEW);
                var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(4096);
            assertThatThrownBy(() -> device.read(7, filled(1024, 0)))
                    .isInstanceOf(MediumException.class).hasMessageContaining("was truncated");
        }
    }

    @Test
    void shouldGiveSpaceBackWithUnmap() throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW)) {
            assumeTrue(device.supports(Capability.UNMAP), "no holes on this file system");
            device.write(0, filled(1 << 20, 1));
            device.flush();
            assertThat(allocatedKib()).isGreaterThanOrEqualTo(1024);
            device.unmap(0, device.blockCount());
            device.flush();
            assertThat(allocatedKib()).isLessThan(64);
            assertThat(Files.size(file)).isEqualTo(1 << 20);
        }
    }

    private int allocatedKib() throws Exception {
        String printed = LoopDisk.run(List.of("du", "-k", file.toString()));
        return Integer.parseInt(printed.split("\\s", 2)[0]);
    }

    @Test
    void shouldWriteZeroesWhereHolesCannotBePunched() throws IOException {
        Files.write(file, new byte[1 << 20]);
        for (int alignment : new int[]{1, 4096}) {
            FileHandle handle = FileHandle.open(file, true, alignment > 1);
            try (var blocks = new FileBlocks(handle, FileOptions.Io.BUFFERED, null,
                    alignment)) {
                assertThat(blocks.capabilities()).doesNotContain(Capability.UNMAP);
                blocks.write(0, filled(1 << 20, 1));
                blocks.zero(512, (1 << 20) - 1024, false);
                MemorySegment back = filled(1 << 20, 9);
                blocks.read(0, back);
                MemorySegment expected = filled(1 << 20, 0);
                expected.asSlice(0, 512).fill((byte) 1);
                expected.asSlice((1 << 20) - 512).fill((byte) 1);
                assertThat(back.mismatch(expected)).as("alignment %d", alignment).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldRejectMoreThanItLetsWaitAndFailWhatWaitsOnClose() throws Exception {
        FileDevice device = FileDevice.open(file, NEW.withWorkers(1));
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
        var first = device.submitFlush();
        for (int i = 1; i < Workers.MAX_WAITING; i++) {
            assertThat(device.submitFlush()).isNotDone();
        }
        assertThat(device.submitFlush().exceptionNow()).isInstanceOf(BusyException.class);
        Thread closer = Thread.ofPlatform().start(() -> {
            try {
                device.close();
            } catch (StorageException e) {
                throw new AssertionError(e);
            }
        });
        assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(DeviceGoneException.class);
        go.countDown();
        assertThat(closer.join(Duration.ofSeconds(60))).isTrue();
    }

    @Test
    void shouldContinueAfterACompletionThatThrows() throws Exception {
        try (BlockDevice device = FileDevice.open(file, NEW.withWorkers(1))) {
            device.submit(new BlockRequest().asFlush().onCompletion((_, _) -> {
                throw new IllegalStateException("a completion of a test");
            }));
            device.submitFlush().get(60, TimeUnit.SECONDS);
        }
    }

    private static MemorySegment filled(int bytes, int value) {
        return MemorySegment.ofArray(new byte[bytes]).fill((byte) value);
    }
}
