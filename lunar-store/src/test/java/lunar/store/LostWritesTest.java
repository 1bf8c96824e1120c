package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.DeviceRecords;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a writeback error, which Linux reports once, is reported to everybody until an operator accepts it. */
@Timeout(60)
class LostWritesTest {
    private static final FileOptions NEW = FileOptions.BUFFERED.withCreateBytes(1 << 20);

    @TempDir
    Path folder;
    private Path file = Path.of("");
    private Path marker = Path.of("");
    private final FaultySync faults = new FaultySync();

    @BeforeEach
    void name() {
        file = folder.resolve("disk.img");
        marker = folder.resolve("disk.img.lunar-lost");
    }

    private FileDevice open(FileOptions options) throws StorageException {
        return FileOpening.open(file, options, DeviceRecords.NONE, faults);
    }

    private static MemorySegment data() { return Arena.ofAuto().allocate(4096, 4096); }

    private static void assertLost(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(LostWritesException.class)
                .hasMessageContaining("Input/output error")
                .hasMessageContaining("lunar accept-loss file:/");
    }

    @ParameterizedTest
    @EnumSource(FileOptions.Io.class)
    void shouldFailEveryFlushAndWriteWithFuaAfterTheFirst(FileOptions.Io io) throws Exception {
        assumeTrue(io != FileOptions.Io.DIRECT || canDoDirect());
        try (FileDevice device = open(NEW.withIo(io))) {
            device.write(0, data());
            device.flush();
            faults.failOnce();
            if (io == FileOptions.Io.SYNC) {
                assertLost(() -> device.write(0, data()));
            } else {
                device.write(0, data());
                assertLost(device::flush);
            }
            assertLost(device::flush);
            assertLost(() -> device.writeThrough(8, data()));
            assertLost(() -> device.execute(new BlockRequest().asWriteZeroes(8, 8, true)));
            assertThatThrownBy(() -> device.submitFlush().get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LostWritesException.class);
            // By the ring, where there is one.
            var stable = new BlockRequest().asWrite(8, 8, data(), true);
            assertThatThrownBy(() -> device.submitFuture(stable).get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LostWritesException.class);
            if (io != FileOptions.Io.SYNC) {
                device.write(16, data()); // promises nothing
            }
            device.read(0, data());
        }
    }

    private boolean canDoDirect() throws IOException {
        Path probe = Files.write(folder.resolve("probe"), new byte[4096]);
        try (FileDevice _ = FileDevice.open(probe,
                FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT))) {
            return true;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    @Test
    void shouldNotLetAWriteWithFuaConsumeTheError() throws Exception {
        try (FileDevice device = open(NEW)) {
            device.write(0, data());
            faults.failOnce();
            assertLost(() -> device.writeThrough(8, data()));
            assertLost(device::flush);
        }
    }

    @Test
    void shouldReportAnErrorAlsoToConcurrentWaiters() throws Exception {
        try (FileDevice device = open(NEW)) {
            device.write(0, data());
            var gate = new CountDownLatch(1);
            faults.gate = gate;
            faults.failOnce();
            List<CompletableFuture<Void>> flushes = new ArrayList<>();
            flushes.add(device.submitFlush());
            faults.entered.await();
            for (int i = 0; i < 7; i++) {
                flushes.add(device.submitFlush());
            }
            assertThat(flushes).noneMatch(CompletableFuture::isDone);
            gate.countDown();
            for (CompletableFuture<Void> flush : flushes) {
                assertThatThrownBy(() -> flush.get(60, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(LostWritesException.class);
            }
        }
    }

    @Test
    void shouldKeepTheErrorOfASyncWhoseThreadIsInterrupted() throws Exception {
        try (FileDevice device = open(NEW)) {
            device.write(0, data());
            faults.failOnce();
            Thread.currentThread().interrupt();
            assertLost(device::flush);
            assertThat(Thread.interrupted()).isTrue();
            assertLost(device::flush);
        }
    }

    @Test
    void shouldRememberTheLossWhenOpenedAgain() throws Exception {
        lose();
        assertThat(marker).content().contains("Input/output error");
        for (int i = 0; i < 2; i++) {
            try (FileDevice device = FileDevice.open(file, FileOptions.BUFFERED)) {
                assertLost(device::flush);
                device.read(0, data());
            }
        }
        try (FileDevice device = FileDevice.open(file, FileOptions.BUFFERED.withReadOnly(true))) {
            device.flush(); // has written nothing
        }
    }

    private void lose() throws StorageException {
        try (FileDevice device = open(NEW)) {
            faults.failOnce();
            assertLost(device::flush);
        }
    }

    @Test
    void shouldFlushAgainOnceTheLossIsAccepted() throws Exception {
        lose();
        assertThat(FileDevice.acceptLostWrites(file)).contains("Input/output error");
        assertThat(marker).doesNotExist();
        try (FileDevice device = FileDevice.open(file, FileOptions.BUFFERED)) {
            device.flush();
        }
        assertThatThrownBy(() -> FileDevice.acceptLostWrites(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no lost writes of " + file + " are recorded");
    }

    @Test
    void shouldAcceptALossWhileTheFileIsInUse() throws Exception {
        try (FileDevice device = open(NEW)) {
            faults.failOnce();
            assertLost(device::flush);
            assertThat(FileDevice.acceptLostWrites(file)).contains("Input/output error");
            device.flush();
            device.writeThrough(0, data());
            faults.failOnce();
            assertLost(device::flush);
            assertLost(device::flush);
            assertThat(marker).exists();
        }
    }

    @Test
    void shouldNotAcceptALossThatOccursDuringTheAcceptance() throws Exception {
        try (FileDevice device = open(NEW)) {
            faults.failOnce();
            assertLost(device::flush);
            Files.delete(marker);
            faults.failOnce();
            assertLost(device::flush);
            assertThat(marker).exists();
            assertLost(device::flush);
        }
    }

    @Test
    void shouldFailUntilARestartWhereTheMarkerCannotBeWritten() throws Exception {
        try (FileDevice device = open(NEW)) {
            Files.createDirectory(marker);
            faults.failOnce();
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class)
                        .hasMessageContaining("restart the server");
            }
            Files.delete(marker); // nobody has accepted what was never told
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
        }
    }

    /** Pages that a later sync drops may be other hosts' than those of the first. */
    @Test
    void shouldCountEveryFailedSyncButNoRepeatedReport() throws Exception {
        try (FileDevice device = open(NEW)) {
            device.flush();
            assertThat(device.writeLosses()).isZero();
            for (int i = 1; i <= 2; i++) {
                faults.failOnce();
                assertLost(device::flush);
                assertLost(device::flush);
                assertThat(device.writeLosses()).isEqualTo(i);
            }
            FileDevice.acceptLostWrites(file);
            device.flush();
            assertThat(device.writeLosses()).isEqualTo(2);
        }
        try (FileDevice device = FileDevice.open(file, FileOptions.BUFFERED)) {
            assertThat(device.writeLosses()).isZero();
        }
    }

    /** Linux tells an error that nobody has seen to a descriptor that is opened later, but not one that was told. */
    @Test
    void shouldOpenTheDescriptorOfSyncsBeforeTheFileIsLabelled() throws Exception {
        assumeTrue(LinuxFile.isAvailable()
                && Files.getFileStore(folder).supportsFileAttributeView("user"));
        List<Boolean> labelled = new ArrayList<>();
        FileOpening.open(file, NEW, DeviceRecords.NONE, path -> {
            labelled.add(isLabelled());
            return DataSync.of(path);
        }).close();
        assertThat(labelled).containsExactly(false);
        assertThat(isLabelled()).isTrue();
    }

    private boolean isLabelled() throws IOException {
        return Files.getFileAttributeView(file, UserDefinedFileAttributeView.class).list()
                .contains("lunar.identity");
    }

    @Test
    void shouldNotReportLossesOfThePreviousFile() throws Exception {
        lose();
        Files.delete(file);
        try (FileDevice device = FileDevice.open(file, NEW)) {
            device.flush();
        }
        assertThat(marker).doesNotExist();
    }
}
