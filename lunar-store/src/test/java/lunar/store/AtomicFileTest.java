package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceRecords;
import lunar.block.InvalidRequestException;
import lunar.block.LostWritesException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests atomic writes to files: reported limits, visibility to readers, and recovery at the next start. */
class AtomicFileTest {
    private static final int BYTES = 1 << 20;
    private static final FileOptions NEW = FileOptions.BUFFERED.withCreateBytes(2 * BYTES);

    @TempDir
    Path folder;
    private Path file = Path.of("");
    private Path log = Path.of("");

    @BeforeEach
    void name() {
        file = folder.resolve("disk.img");
        log = folder.resolve("disk.img.lunar-atomic");
    }

    private static MemorySegment all(int value) {
        return Arena.ofAuto().allocate(BYTES, 4096).fill((byte) value);
    }

    private static BlockRequest atomic(MemorySegment data) {
        return new BlockRequest().asAtomicWrite(0, BYTES / 512, data, false);
    }

    private static void assertAll(FileDevice device, int value) throws StorageException {
        MemorySegment back = all(0);
        device.read(0, back);
        assertThat(back.mismatch(all(value))).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource(value = FileOptions.Io.class, names = "SENDFILE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWriteAtomicallyToAMebibyte(FileOptions.Io io) throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW.withIo(io))) {
            assertThat(device.supports(Capability.ATOMIC_WRITE)).isTrue();
            assertThat(device.limits().maxAtomicWriteBlocks()).isEqualTo(BYTES / 512);
            device.execute(atomic(all(1)));
            assertAll(device, 1);
            device.submitFuture(atomic(all(2))).get(60, TimeUnit.SECONDS);
            assertAll(device, 2);
            device.execute(new BlockRequest().asAtomicWrite(1, 3, all(3).asSlice(512, 1536), true));
            MemorySegment back = all(0).asSlice(0, 512);
            device.read(4, back);
            assertThat(back.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 2);
            device.execute(new BlockRequest().asAtomicWrite(0, 0, MemorySegment.NULL, false));
            assertThatThrownBy(() -> device.execute(new BlockRequest().asAtomicWrite(0,
                    BYTES / 512 + 1, Arena.ofAuto().allocate(BYTES + 512), false)))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(log).exists();
        }
        assertThat(log).as("log of a file that was closed in order").doesNotExist();
    }

    @Test
    void shouldHaveNoneWithSendfileAndForReading() throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW.withIo(FileOptions.Io.SENDFILE))) {
            assertThat(device.supports(Capability.ATOMIC_WRITE)).isFalse();
            assertThatThrownBy(() -> device.execute(atomic(all(1))))
                    .isInstanceOf(NotSupportedException.class);
        }
        try (FileDevice device = FileDevice.open(file, NEW.withReadOnly(true))) {
            assertThat(device.supports(Capability.ATOMIC_WRITE)).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(value = FileOptions.Io.class, names = {"BUFFERED", "MAPPED", "DIRECT"})
    void shouldAppearAtomicToConcurrentReaders(FileOptions.Io io) throws Exception {
        try (FileDevice device = FileDevice.open(file, NEW.withIo(io))) {
            var done = new AtomicBoolean();
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 1; i <= 40; i++) {
                        device.execute(atomic(all(i)));
                    }
                } catch (StorageException e) {
                    throw new AssertionError(e);
                } finally {
                    done.set(true);
                }
            });
            MemorySegment back = all(0);
            int seen = 0;
            while (!done.get()) {
                device.submitRead(0, back).get(60, TimeUnit.SECONDS);
                byte first = back.get(ValueLayout.JAVA_BYTE, 0);
                assertThat(back.mismatch(all(first))).isEqualTo(-1);
                assertThat((int) first).isGreaterThanOrEqualTo(seen);
                seen = first;
            }
            writer.join();
            assertAll(device, 40);
        }
    }

    @Test
    void shouldLeaveTheLogToAnotherFileThatHasTakenTheName() throws Exception {
        try (FileDevice lost = FileDevice.open(file, NEW)) {
            lost.execute(atomic(all(1)));
            Files.move(file, folder.resolve("other"));
            try (FileDevice owner = FileDevice.open(file, NEW)) {
                owner.execute(atomic(all(2)));
                Thread.currentThread().interrupt(); // which closes the channel
                assertThatThrownBy(() -> lost.write(0, MemorySegment.ofArray(new byte[512])))
                        .isInstanceOf(DeviceGoneException.class);
                assertThat(Thread.interrupted()).isTrue();
                lost.close();
                assertThat(log).exists();
            }
        }
    }

    /** Leaves a file as a process that is killed in the middle of an atomic write. */
    private void interrupt() throws IOException {
        try (FileDevice device = FileDevice.open(file, NEW)) {
            device.write(0, all(1));
        }
        long image;
        try (LinuxFile descriptor = LinuxFile.open(file, false, false).orElse(null)) {
            image = FileAtomics.image(FileBirth.of(file, descriptor));
        }
        try (var left = new AtomicLogFile(log)) {
            new AtomicLog(left, image).record(0, all(2));
        }
        try (FileDevice torn = FileDevice.open(
                Files.createLink(folder.resolve("other"), file), NEW)) {
            torn.write(0, all(2).asSlice(0, BYTES / 2));
        }
    }

    @Test
    void shouldCompleteAnInterruptedWriteWhenTheFileIsOpened() throws Exception {
        interrupt();
        try (FileDevice device = FileDevice.open(file, NEW)) {
            assertAll(device, 2);
            device.write(0, all(3)); // which a second start must leave alone
            device.flush();
        }
        try (FileDevice device = FileDevice.open(file, NEW)) {
            assertAll(device, 3);
        }
    }

    @Test
    void shouldNotShowATornFileThatIsOpenedForReading() throws Exception {
        interrupt();
        assertThatThrownBy(() -> FileDevice.open(file, NEW.withReadOnly(true)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("open the file once without read-only=true");
    }

    /** The log may be that of a process that is in the middle of a write. */
    @Test
    void shouldLeaveTheLogAloneWhenOpenedWithoutALock() throws Exception {
        interrupt();
        byte[] left = Files.readAllBytes(log);
        var look = FileOptions.BUFFERED.withReadOnly(true).withLocked(false);
        FileDevice.open(file, look).close();
        assertThat(Files.readAllBytes(log)).isEqualTo(left);
        Files.delete(log);
        FileDevice.open(file, look).close();
        assertThat(log).doesNotExist();
    }

    @Test
    void shouldNotWriteOverAFileThatWasPutInThePlaceOfTheInterruptedOne() throws Exception {
        interrupt();
        Files.copy(file, folder.resolve("copy"));
        Files.move(folder.resolve("copy"), file,
                StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> FileDevice.open(file, NEW))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("remove it if file:" + file + " was restored or copied");
        Files.delete(log);
        FileDevice.open(file, NEW).close();
    }

    /** ext4 gives the number of a removed inode to the next file. */
    @Test
    void shouldNotWriteOverARestoredFileThatHasGotTheInodeOfTheInterruptedOne() throws Exception {
        assumeTrue(LinuxFile.isAvailable());
        interrupt();
        byte[] backup = new byte[2 * BYTES];
        Files.delete(folder.resolve("other"));
        Files.delete(file);
        Files.write(file, backup);
        assertThatThrownBy(() -> FileDevice.open(file, NEW))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("remove it if file:" + file + " was restored or copied");
        assertThat(Files.readAllBytes(file)).isEqualTo(backup);
    }

    @Test
    void shouldWriteTheOldDataBackWhereTheSyncOfTheFileFails() throws Exception {
        var faults = new FaultySync();
        try (FileDevice device = FileOpening.open(file, NEW, DeviceRecords.NONE, faults)) {
            device.execute(atomic(all(1)));
            faults.failAfter(1); // of what is dirty, before the write begins
            assertThatThrownBy(() -> device.execute(atomic(all(2))))
                    .isInstanceOf(LostWritesException.class);
            assertAll(device, 1);
            try (var left = new AtomicLogFile(log)) {
                assertThat(new AtomicLog(left, 0).pending()).isEmpty();
            }
        }
    }

    @Test
    void shouldDiscardTheLogOfARecreatedFile() throws Exception {
        interrupt();
        Files.delete(file);
        try (FileDevice device = FileDevice.open(file, NEW)) {
            assertAll(device, 0);
        }
    }

    @Test
    void shouldIgnoreAnIncompleteLog() throws Exception {
        interrupt();
        byte[] bytes = Files.readAllBytes(log);
        bytes[bytes.length - 1]++;
        Files.write(log, bytes);
        FileDevice.open(file, NEW).close();
        assertThat(log).doesNotExist();
    }
}
