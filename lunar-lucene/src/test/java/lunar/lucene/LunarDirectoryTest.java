package lunar.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.Devices;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.WriteProtectedException;
import lunar.filter.FaultFilter;
import lunar.filter.FaultPlan;
import lunar.testkit.SteppedDevice;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.LockObtainFailedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what Lucene's own tests do not cover: space, faults, owners, content of the device. */
class LunarDirectoryTest {
    private static final int MIB = 1 << 20;

    private FaultFilter device;

    @BeforeEach
    void create() throws IOException {
        device = new FaultFilter(Devices.open("ram:4MiB"), FaultPlan.NONE, 1);
        LunarDirectory.format(device);
    }

    @AfterEach
    void close() throws IOException { device.close(); }

    private LunarDirectory open() throws IOException { return LunarDirectory.open(device, MIB); }

    private static void write(LunarDirectory directory, String name, int length)
            throws IOException {
        try (IndexOutput out = directory.createOutput(name, IOContext.DEFAULT)) {
            out.writeBytes(content(name, length), length);
        }
    }

    private static byte[] content(String name, int length) {
        byte[] bytes = new byte[length];
        new Random(name.hashCode()).nextBytes(bytes);
        return bytes;
    }

    private static void requireContent(LunarDirectory directory, String name, int length)
            throws IOException {
        try (IndexInput in = directory.openInput(name, IOContext.DEFAULT)) {
            byte[] bytes = new byte[length];
            in.readBytes(bytes, 0, length);
            assertThat(bytes).isEqualTo(content(name, length));
            assertThat(in.length()).isEqualTo(length);
        }
    }

    @Test
    void shouldUseTheSpaceOfDeletedFilesAgain() throws Exception {
        try (LunarDirectory directory = open()) {
            long free = directory.freeBytes();
            for (int i = 0; i < 50; i++) {
                write(directory, "a" + i, 300_000);
                if (i % 7 == 0) {
                    directory.sync(List.of("a" + i));
                }
                if (i >= 5) {
                    directory.deleteFile("a" + (i - 5));
                }
            }
            for (int i = 45; i < 50; i++) {
                requireContent(directory, "a" + i, 300_000);
                directory.deleteFile("a" + i);
            }
            directory.syncMetaData();
            assertThat(directory.freeBytes()).isEqualTo(free);
        }
    }

    @Test
    void shouldReportNoSpaceAndContinueWhenThereIsSome() throws Exception {
        try (LunarDirectory directory = open()) {
            long free = directory.freeBytes();
            write(directory, "first", MIB);
            assertThatThrownBy(() -> write(directory, "second", 4 * MIB))
                    .isInstanceOf(NoSpaceException.class).hasMessageContaining("second");
            assertThatThrownBy(() -> directory.openInput("second", IOContext.DEFAULT))
                    .hasMessageContaining("second");
            assertThatThrownBy(() -> directory.sync(List.of("second")))
                    .isInstanceOf(IOException.class);
            directory.deleteFile("second");
            assertThat(directory.freeBytes()).isEqualTo(free - MIB);
            write(directory, "third", 2 * MIB);
            directory.syncMetaData();
            directory.deleteFile("first");
            directory.deleteFile("third");
            write(directory, "fourth", (int) free); // commits the deletions by itself
            requireContent(directory, "fourth", (int) free);
        }
    }

    @Test
    void shouldRejectACommitOfMoreFilesThanMetadataHold() throws Exception {
        try (LunarDirectory directory = open()) {
            int count = 0;
            for (; count < 10_000; count++) {
                directory.createOutput("a-long-name-of-file-" + count, IOContext.DEFAULT).close();
            }
            assertThatThrownBy(directory::syncMetaData).isInstanceOf(NoSpaceException.class)
                    .hasMessageContaining("10000 files");
            for (int i = 1000; i < count; i++) {
                directory.deleteFile("a-long-name-of-file-" + i);
            }
            directory.syncMetaData();
        }
        try (LunarDirectory directory = open()) {
            assertThat(directory.listAll()).hasSize(1000);
        }
    }

    @Test
    void shouldKeepFilesOverCloseAndOpen() throws Exception {
        try (LunarDirectory directory = open()) {
            write(directory, "one", 100_000);
            write(directory, "empty", 0);
            directory.sync(List.of("one"));
            directory.rename("one", "two");
            try (IndexOutput temp = directory.createTempOutput("x", "y", IOContext.DEFAULT)) {
                temp.writeByte((byte) 1);
            }
        }
        try (LunarDirectory directory = open()) {
            assertThat(directory.listAll()).containsExactly("empty", "two", "x_y_0.tmp");
            try (IndexInput in = directory.openInput("two", IOContext.DEFAULT)) {
                byte[] bytes = new byte[100_000];
                in.readBytes(bytes, 0, bytes.length);
                assertThat(bytes).isEqualTo(content("one", 100_000));
            }
            assertThat(directory.fileLength("empty")).isZero();
            try (IndexOutput temp = directory.createTempOutput("x", "y", IOContext.DEFAULT)) {
                assertThat(temp.getName()).isEqualTo("x_y_1.tmp");
            }
        }
    }

    @Test
    void shouldRejectNamesAndStatesThatAreWrong() throws Exception {
        try (LunarDirectory directory = open()) {
            write(directory, "one", 10);
            write(directory, "two", 10);
            assertThatThrownBy(() -> directory.rename("one", "two"))
                    .isInstanceOf(FileAlreadyExistsException.class);
            assertThatThrownBy(
                    () -> directory.createOutput("x".repeat(256), IOContext.DEFAULT))
                    .isInstanceOf(IOException.class).hasMessageContaining("255");
            assertThatThrownBy(() -> directory.rename("one", "")).isInstanceOf(IOException.class);
            try (IndexOutput out = directory.createOutput("three", IOContext.DEFAULT)) {
                out.writeInt(3);
                assertThatThrownBy(() -> directory.openInput("three", IOContext.DEFAULT))
                        .isInstanceOf(AccessDeniedException.class);
                assertThatThrownBy(() -> directory.sync(List.of("three")))
                        .isInstanceOf(IOException.class);
                directory.deleteFile("three");
            }
            assertThat(directory.listAll()).containsExactly("one", "two");
        }
    }

    @Test
    void shouldEndInputsThatAreOpenWhenItCloses() throws Exception {
        LunarDirectory directory = open();
        write(directory, "one", 100_000);
        IndexInput in = directory.openInput("one", IOContext.DEFAULT);
        IndexInput clone = in.clone();
        in.readByte();
        in.close();
        assertThatThrownBy(in::readByte).isInstanceOf(AlreadyClosedException.class);
        assertThatThrownBy(clone::readByte).isInstanceOf(AlreadyClosedException.class);
        try (IndexInput other = directory.openInput("one", IOContext.DEFAULT)) {
            directory.close();
            directory.close();
            assertThatThrownBy(other::readByte).isInstanceOf(AlreadyClosedException.class);
        }
        assertThatThrownBy(directory::listAll).isInstanceOf(AlreadyClosedException.class);
    }

    /** The space that it has got may be another's by then. */
    @Test
    void shouldWriteNothingOnceItIsClosed() throws Exception {
        LunarDirectory directory = open();
        IndexOutput out = directory.createOutput("one", IOContext.DEFAULT);
        out.writeBytes(new byte[100_000], 100_000);
        directory.close();
        device.plan(FaultPlan.errors(1).withOperations(Operation.WRITE));
        long before = device.injected();
        assertThatThrownBy(out::close).isInstanceOf(IOException.class)
                .hasMessageContaining("closed before");
        assertThat(device.injected()).isEqualTo(before);
        device.plan(FaultPlan.NONE);
        try (LunarDirectory again = open()) {
            assertThat(again.listAll()).isEmpty();
        }
    }

    @Test
    void shouldCloseOnlyWhenNoWriteIsInProgress() throws Exception {
        var stepped = new SteppedDevice(4 * MIB / SteppedDevice.BLOCK_BYTES);
        LunarDirectory.format(stepped);
        LunarDirectory directory = LunarDirectory.open(stepped, MIB);
        IndexOutput out = directory.createOutput("one", IOContext.DEFAULT);
        out.writeBytes(new byte[100_000], 100_000);
        assertThat(stepped.pending()).isNotEmpty();
        var failure = new AtomicReference<IOException>();
        Thread closer = Thread.ofPlatform().start(() -> {
            try {
                directory.close();
            } catch (IOException e) {
                failure.set(e);
            }
        });
        while (closer.getState() != Thread.State.WAITING && closer.isAlive()) {
            Thread.onSpinWait();
        }
        assertThat(closer.isAlive()).isTrue();
        assertThatThrownBy(() -> LunarDirectory.open(stepped, MIB))
                .isInstanceOf(LockObtainFailedException.class);
        stepped.endAll();
        closer.join();
        assertThat(failure).hasNullValue();
        assertThatThrownBy(out::close).isInstanceOf(IOException.class);
        assertThat(stepped.pending()).isEmpty();
        LunarDirectory.open(stepped, MIB).close();
    }

    @Test
    void shouldBeOpenOnceInAProcess() throws Exception {
        try (LunarDirectory directory = open()) {
            assertThatThrownBy(this::open).isInstanceOf(LockObtainFailedException.class);
            assertThatThrownBy(() -> LunarDirectory.format(device))
                    .isInstanceOf(LockObtainFailedException.class);
            directory.obtainLock("write.lock").close();
        }
        open().close();
        LunarDirectory.format(device);
    }

    /** Another host cannot be held off, but the one it has driven out finds out before it spoils anything. */
    @Test
    void shouldNotCommitOnceAnotherHasTakenTheDevice() throws Exception {
        Layout layout = MetadataStore.layout(new Units(device));
        LunarDirectory directory = open();
        write(directory, "one", 10);
        directory.sync(List.of("one"));
        var other = new Owner(UUID.randomUUID(), true, 0, "1 of other");
        new Units(device).write(Layout.OWNER_UNIT, other.encode(layout.image()));
        write(directory, "two", 10);
        assertThatThrownBy(() -> directory.sync(List.of("two"))).isInstanceOf(IOException.class)
                .hasMessageContaining("1 of other");
        directory.close();
        assertThat(Owner.decode(new Units(device).read(Layout.OWNER_UNIT, 1), layout.image()))
                .contains(other);
        try (LunarDirectory again = open()) {
            assertThat(again.listAll()).containsExactly("one");
        }
    }

    @Test
    void shouldRejectFurtherCommitsOnceOneHasFailed() throws Exception {
        LunarDirectory directory = open();
        write(directory, "one", 10);
        device.plan(FaultPlan.errors(1).withOperations(Operation.FLUSH));
        assertThatThrownBy(directory::syncMetaData).isInstanceOf(MediumException.class);
        device.plan(FaultPlan.NONE);
        assertThatThrownBy(directory::syncMetaData).hasMessageContaining("open it again");
        directory.close();
        open().close();
    }

    @Test
    void shouldFailAnOutputWhoseWriteFailsAndFreeItsSpace() throws Exception {
        try (LunarDirectory directory = open()) {
            long free = directory.freeBytes();
            device.plan(FaultPlan.errors(0.3).withOperations(Operation.WRITE));
            assertThatThrownBy(() -> write(directory, "one", 2 * MIB))
                    .isInstanceOf(IOException.class).hasRootCauseInstanceOf(MediumException.class);
            device.plan(FaultPlan.NONE);
            directory.deleteFile("one");
            assertThat(directory.freeBytes()).isEqualTo(free);
            write(directory, "one", MIB);
            requireContent(directory, "one", MIB);
        }
    }

    @Test
    void shouldReadAgainWhatCouldNotBeRead() throws Exception {
        try (LunarDirectory directory = open()) {
            write(directory, "one", 200_000);
            device.plan(FaultPlan.errors(1).withOperations(Operation.READ));
            assertThatThrownBy(() -> requireContent(directory, "one", 200_000))
                    .isInstanceOf(MediumException.class);
            device.plan(FaultPlan.NONE);
            requireContent(directory, "one", 200_000);
        }
    }

    @Test
    void shouldOnlyReadFromAReadOnlyDevice(@TempDir Path folder) throws Exception {
        String uri = "file:" + folder.resolve("disk.img");
        try (BlockDevice disk = Devices.open(uri + "?size=4MiB")) {
            LunarDirectory.format(disk);
            try (LunarDirectory directory = LunarDirectory.open(disk)) {
                write(directory, "one", 50_000);
            }
        }
        try (BlockDevice disk = Devices.open(uri + "?read-only=true");
                LunarDirectory directory = LunarDirectory.open(disk);
                LunarDirectory other = LunarDirectory.open(disk)) {
            requireContent(directory, "one", 50_000);
            requireContent(other, "one", 50_000);
            assertThatThrownBy(() -> directory.createOutput("two", IOContext.DEFAULT))
                    .isInstanceOf(WriteProtectedException.class);
            assertThatThrownBy(() -> directory.deleteFile("one"))
                    .isInstanceOf(WriteProtectedException.class);
            assertThatThrownBy(directory::syncMetaData)
                    .isInstanceOf(WriteProtectedException.class);
        }
    }

    @Test
    void shouldOpenByTheCopyOfTheSuperblock() throws Exception {
        try (LunarDirectory directory = open()) {
            write(directory, "one", 10);
        }
        var units = new Units(device);
        units.write(0, new byte[Layout.UNIT_BYTES]);
        assertThat(LunarDirectory.isFormatted(device)).isTrue();
        try (LunarDirectory directory = open()) {
            requireContent(directory, "one", 10);
        }
        units.write(units.count() - 1, new byte[Layout.UNIT_BYTES]);
        assertThat(LunarDirectory.isFormatted(device)).isFalse();
        assertThatThrownBy(this::open).isInstanceOf(CorruptIndexException.class)
                .hasMessageContaining("format it");
    }

    @Test
    void shouldRejectDevicesOfImpossibleSize() throws Exception {
        try (BlockDevice small = Devices.open("ram:1MiB")) {
            assertThatThrownBy(() -> LunarDirectory.format(small))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(LunarDirectory.isFormatted(small)).isFalse();
            assertThatThrownBy(() -> LunarDirectory.open(small))
                    .isInstanceOf(CorruptIndexException.class);
        }
    }
}
