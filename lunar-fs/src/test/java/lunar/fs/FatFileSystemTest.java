package lunar.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests images that mkfs.vfat makes and mcopy fills. */
class FatFileSystemTest {
    @TempDir
    static Path shared;

    @TempDir
    Path folder;

    private static SourceTree tree;

    @BeforeAll
    static void makeTree() throws Exception {
        Tool.assume("mkfs.vfat", "mcopy", "mattrib");
        tree = new SourceTree(shared.resolve("tree"), Seed.next());
        tree.file("empty", 0).file("one", 1).file("medium.bin", 100_000)
                .file("large.bin", 3 << 20).directory("nothing")
                .file("a/b/c/d/e/f/g/h/i/j/k/deep", 1234).file("names/Grüße aus Köln.txt", 11)
                .file("names/日本語のファイル名", 12).file("names/ⅷ ☾ name", 13)
                .file("names/" + "x".repeat(200) + ".long", 14).file("names/UPPER.TXT", 16)
                .file("names/lower.txt", 17).file("names/Mixed.Case.name", 18)
                .file("names/.hidden", 19).files("many", 700, "a name of some length ");
    }

    private Path image(Path root, String... options) throws Exception {
        Path image = folder.resolve("image");
        var command = new ArrayList<>(List.of("mkfs.vfat", "-n", "MOON", "-i", "12ab34cd", "-C"));
        command.addAll(List.of(options).subList(0, options.length - 1));
        command.addAll(List.of(image.toString(), options[options.length - 1]));
        Tool.run(command.toArray(String[]::new));
        var copy = new ArrayList<>(List.of("mcopy", "-s", "-m", "-i", image.toString()));
        try (Stream<Path> all = Files.list(root)) {
            all.forEach(path -> copy.add(path.toString()));
        }
        copy.add("::");
        Tool.run(copy.toArray(String[]::new));
        return image;
    }

    private static FileSystemView view(BlockDevice device) throws Exception {
        PartitionTable table = PartitionTable.read(device);
        assertThat(table.scheme()).isEqualTo(PartitionTable.Scheme.NONE);
        return FileSystemView.open(device, table.volumes().getFirst());
    }

    @ParameterizedTest
    @CsvSource({"FAT12, 12, 4, 8000", "FAT16, 16, 4, 32000", "FAT16, 16, 1, 12000",
            "FAT32, 32, 1, 40000", "FAT32, 32, 8, 300000"})
    void shouldReadEveryFileOfAnImage(String type, String bits, String clusterSectors, String kib)
            throws Exception {
        Path image = image(tree.root(), "-F", bits, "-s", clusterSectors, kib);
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            FileSystemView view = view(device);
            tree.assertSame(view, false);
            assertThat(view.info().type()).isEqualTo(type);
            assertThat(view.info().label()).isEqualTo("MOON");
            assertThat(view.info().uuid()).isEqualTo("12AB-34CD");
            assertThat(view.find("NAMES/upper.txt")).isEqualTo(view.find("/names/UPPER.TXT"));
            assertThatThrownBy(() -> view.find("/names/none"))
                    .isInstanceOf(NotFoundException.class);
        }
    }

    @Test
    void shouldReadSectorsOf4096Bytes() throws Exception {
        Path image = image(tree.root(), "-F", "32", "-S", "4096", "-s", "1", "300000");
        try (BlockDevice device = Devices
                .open("file:" + image + "?read-only=true&block-size=4096")) {
            tree.assertSame(view(device), false);
        }
    }

    @Test
    void shouldReportTimesAndAttributes() throws Exception {
        Path small = Files.createDirectories(folder.resolve("small"));
        Path file = Files.write(small.resolve("f"), new byte[]{1});
        Files.setLastModifiedTime(file,
                java.nio.file.attribute.FileTime.from(Instant.parse("2024-02-29T23:58:58Z")));
        Path image = image(small, "1440");
        Tool.run("mattrib", "-i", image.toString(), "+r", "::f");
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            Node node = view(device).find("f");
            assertThat(node.mode()).isEqualTo("-r--r--r--");
            assertThat(node.modified()).contains(Instant.parse("2024-02-29T23:58:58Z"));
        }
    }

    @Test
    void shouldOmitDeletedEntries() throws Exception {
        Path image = image(tree.root(), "-F", "16", "32000");
        Tool.run("mdel", "-i", image.toString(), "::names/lower.txt",
                "::names/" + "x".repeat(200) + ".long");
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            assertThat(view(device).list("/names")).extracting(DirectoryEntry::name).hasSize(6)
                    .contains("Mixed.Case.name").doesNotContain("lower.txt");
        }
    }

    @Test
    void shouldReportAFileSystemThatWasNotUnmounted() throws Exception {
        Path image = image(tree.root(), "-F", "32", "-s", "1", "40000");
        try (var file = new java.io.RandomAccessFile(image.toFile(), "rw")) {
            file.seek(65);
            file.write(1);
        }
        try (BlockDevice device = Devices.open("file:" + image + "?read-only=true")) {
            assertThat(view(device).info().notices()).singleElement().asString()
                    .contains("not unmounted cleanly");
            tree.assertSame(view(device), false);
        }
    }
}
