package lunar.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests partition tables that sfdisk and sgdisk write. */
class PartitionTableTest {
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private Path disk(int bytes) throws IOException {
        Path image = folder.resolve("disk");
        try (var file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(bytes);
        }
        return image;
    }

    private static PartitionTable read(Path image) throws IOException {
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            return PartitionTable.read(device);
        }
    }

    private static void put(Path image, long at, byte... bytes) throws IOException {
        try (var file = new RandomAccessFile(image.toFile(), "rw")) {
            file.seek(at);
            file.write(bytes);
        }
    }

    private Path mbr() throws Exception {
        Path image = disk(64 * MIB);
        Tool.feed("label: dos\nstart=2048, size=8192, type=c, bootable\nsize=16384, type=83\n"
                + "type=5\nsize=4096, type=83\nsize=8192, type=82\n", "sfdisk", "-q",
                image.toString());
        return image;
    }

    private Path gpt() throws Exception {
        Path image = disk(64 * MIB);
        Tool.run("sgdisk", "-n", "1:2048:+4M", "-t", "1:ef00", "-c", "1:EFI", "-n", "3:0:+16M",
                "-t", "3:8300", "-c", "3:Daten ☾", image.toString());
        return image;
    }

    @Test
    void shouldReadPrimaryAndLogicalPartitions() throws Exception {
        PartitionTable table = read(mbr());
        assertThat(table.scheme()).isEqualTo(PartitionTable.Scheme.MBR);
        assertThat(table.notices()).isEmpty();
        assertThat(table.volumes()).extracting(Volume::number, Volume::type, Volume::offsetBytes,
                Volume::sizeBytes).containsExactly(
                        org.assertj.core.groups.Tuple.tuple(1, "FAT32", 1L * MIB, 4L * MIB),
                        org.assertj.core.groups.Tuple.tuple(2, "Linux", 5L * MIB, 8L * MIB),
                        org.assertj.core.groups.Tuple.tuple(5, "Linux", 14L * MIB, 2L * MIB),
                        org.assertj.core.groups.Tuple.tuple(6, "Linux swap", 17L * MIB,
                                4L * MIB));
    }

    @Test
    void shouldDetectALoopOfLogicalPartitions() throws Exception {
        Path image = mbr();
        byte[] extended = Files.readAllBytes(image);
        int start = 446 + 2 * 16 + 8;
        int at = 512 * (extended[start] & 0xff | (extended[start + 1] & 0xff) << 8
                | (extended[start + 2] & 0xff) << 16);
        put(image, at + 446 + 16 + 8, new byte[4]); // the link of the first leads back to it
        PartitionTable table = read(image);
        assertThat(table.volumes()).extracting(Volume::number).containsExactly(1, 2, 5);
        assertThat(table.notices()).singleElement().asString().contains("contains a cycle");
    }

    @Test
    void shouldReadGuidPartitions() throws Exception {
        PartitionTable table = read(gpt());
        assertThat(table.scheme()).isEqualTo(PartitionTable.Scheme.GPT);
        assertThat(table.notices()).isEmpty();
        assertThat(table.volumes()).containsExactly(
                new Volume(1, "EFI system", "EFI", MIB, 4L * MIB),
                new Volume(3, "Linux", "Daten ☾", 5L * MIB, 16L * MIB));
    }

    @Test
    void shouldUseTheBackupTableIfTheFirstIsDamaged() throws Exception {
        for (int at : List.of(512 + 80, 1024 + 40)) { // the header; an entry
            Path image = gpt();
            List<Volume> expected = read(image).volumes();
            put(image, at, (byte) 0x77);
            PartitionTable table = read(image);
            assertThat(table.volumes()).isEqualTo(expected);
            assertThat(table.notices()).singleElement().asString()
                    .contains("the backup at the end");
            Files.delete(image);
        }
    }

    @Test
    void shouldReportWhatDoesNotFitOnTheDevice() throws Exception {
        Path image = gpt();
        put(image, 512, new byte[512]); // only the copy at the end would be left, and that is cut off
        try (var file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(8 * MIB);
        }
        PartitionTable table = read(image);
        assertThat(table.scheme()).isEqualTo(PartitionTable.Scheme.MBR);
        assertThat(table.notices()).anyMatch(
                line -> line.contains("both copies of the GUID partition table are damaged"))
                .anyMatch(line -> line.contains("beyond the end of the device"));
    }

    @Test
    void shouldFindFileSystemsInPartitions() throws Exception {
        Tool.assume("sgdisk", "mke2fs", "mkfs.vfat", "mcopy");
        var tree = new SourceTree(folder.resolve("tree"), 7).file("a/b", 70_000).file("c", 3);
        Path image = gpt();
        Tool.run("mkfs.vfat", "--offset=2048", image.toString(), "4096");
        Tool.run("mcopy", "-s", "-i", image + "@@1M", tree.root().resolve("a").toString(),
                tree.root().resolve("c").toString(), "::");
        Tool.run("mke2fs", "-q", "-t", "ext4", "-d", tree.root().toString(), "-E",
                "offset=" + 5 * MIB, image.toString(), "16M");
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            List<Volume> volumes = PartitionTable.read(device).volumes();
            tree.assertSame(FileSystemView.open(device, volumes.get(0)), false);
            tree.assertSame(FileSystemView.open(device, volumes.get(1)), true);
        }
    }

    @Test
    void shouldNameWhatItCannotRead() throws Exception {
        Path image = disk(MIB);
        assertProblem(image, "contains no ext2, ext3, ext4 or FAT file system");
        put(image, 3, "NTFS    ".getBytes(StandardCharsets.US_ASCII));
        assertProblem(image, "contains NTFS");
    }

    private static void assertProblem(Path image, String message) throws IOException {
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            Volume whole = PartitionTable.read(device).volumes().getFirst();
            assertThat(whole.number()).isZero();
            assertThatThrownBy(() -> FileSystemView.open(device, whole))
                    .isInstanceOf(UnsupportedException.class).hasMessageContaining(message);
        }
    }
}
