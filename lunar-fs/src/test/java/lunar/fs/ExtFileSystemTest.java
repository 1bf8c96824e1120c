package lunar.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests images that mke2fs makes of a tree. */
class ExtFileSystemTest {
    private static final long SEED = Seed.next();
    private static final long GIB = 1L << 30;

    @TempDir
    static Path shared;

    @TempDir
    Path folder;

    private static SourceTree tree;
    private static SourceTree small;

    @BeforeAll
    static void makeTree() throws Exception {
        Tool.assume("mke2fs", "debugfs", "e2fsck");
        tree = new SourceTree(shared.resolve("tree"), SEED).usual(600);
        tree.sparse("sparse", 20 << 20, 0, 70_000, 1 << 20, 10 << 20, (20 << 20) - 5000)
                .sparse("holes-only", 3 << 20)
                .sparse("huge", 5 * GIB, 17, 2 * GIB + 1, 4 * GIB + 4096, 5 * GIB - 5000)
                .sparse("fragments", 1500 << 14, fragments())
                .permissions("short.txt", "rw-r-----").permissions("one", "rwxr-x--x");
        addLinks(tree);
        small = new SourceTree(shared.resolve("small"), SEED).file("one", 1).file("short.txt", 9)
                .file("a/b/c/d/e/f", 70_000);
        addLinks(small);
    }

    /** So many that a tree of extents in blocks of 1 KiB has two levels. */
    private static long[] fragments() {
        return LongStream.range(0, 1500).map(i -> i << 14).toArray();
    }

    private static void addLinks(SourceTree to) throws Exception {
        to.link("links/fast", "../short.txt").link("links/absolute", "/a/b/c")
                .link("links/slow", "../a/b/c/" + "./".repeat(40) + "d")
                .link("links/59", "x".repeat(59)).link("links/60", "y".repeat(60))
                .link("links/nowhere", "nothing/here").link("links/loop", "loop")
                .link("links/above", "../../../../one");
    }

    static Stream<Arguments> variants() {
        return Stream.of(variant("ext2", "-t ext2 -b 1024"),
                variant("ext2", "-t ext2 -b 4096 -r 0"),
                variant("ext3", "-t ext3 -b 2048"), variant("ext4", "-t ext4"),
                variant("ext4", "-t ext4 -b 1024 -O 64bit,meta_bg,^resize_inode,^flex_bg"),
                variant("ext4", "-t ext4 -I 512 -O inline_data,64bit"),
                variant("ext4", "-t ext4 -I 128 -O ^metadata_csum,^64bit,^filetype"),
                variant("ext4", "-t ext4 -b 4096 -O bigalloc -C 65536"),
                variant("ext4", "-t ext4 -b 1024 -O sparse_super2,meta_bg,^resize_inode"),
                variant("ext4", "-t ext4 -b 65536 -F"),
                variant("ext4", "-t ext4 -O large_dir,ea_inode,metadata_csum_seed"));
    }

    private static Arguments variant(String type, String options) {
        return Arguments.of(type, options);
    }

    private Path smallImage(String options) throws Exception {
        return image(small.root(), options, "16M");
    }

    private Path image(Path root, String options, String size) throws Exception {
        Path image = folder.resolve("image");
        var command = new ArrayList<>(List.of("mke2fs", "-q", "-L", "moon"));
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of("-d", root.toString(), image.toString(), size));
        Tool.run(command.toArray(String[]::new));
        return image;
    }

    private static BlockDevice open(Path image) throws Exception {
        return Devices.open("file:" + image + "?read-only=true");
    }

    private static FileSystemView view(BlockDevice device) throws Exception {
        return FileSystemView.open(device,
                PartitionTable.read(device).volumes().getFirst());
    }

    @ParameterizedTest
    @MethodSource("variants")
    void shouldReadEveryFileOfAnImage(String type, String options) throws Exception {
        Path image = image(tree.root(), options + " -N 4000", "256M");
        try (BlockDevice device = open(image)) {
            FileSystemView view = view(device);
            tree.assertSame(view, true);
            assertThat(view.info().type()).isEqualTo(type);
            assertThat(view.info().label()).isEqualTo("moon");
            assertThat(view.info().notices()).isEmpty();
        }
    }

    /** mke2fs fills directories in a row; e2fsck makes hash trees of those that are larger than a block. */
    @Test
    void shouldReadLargeDirectoriesWithAndWithoutHashTrees() throws Exception {
        var large = new SourceTree(folder.resolve("large"), SEED).files("many", 10_000,
                "file with a name of some length ");
        Path image = image(large.root(), "-t ext3 -b 1024 -N 12000", "64M");
        try (BlockDevice device = open(image)) {
            large.assertSame(view(device), true);
        }
        Tool.run("e2fsck", "-fyD", image.toString());
        assertThat(Tool.run("debugfs", "-R", "htree_dump /many", image.toString()))
                .contains("Indirect levels: ");
        try (BlockDevice device = open(image)) {
            large.assertSame(view(device), true);
        }
    }

    @Test
    void shouldFollowLinksWithinTheFileSystem() throws Exception {
        Path image = smallImage("-t ext4");
        try (BlockDevice device = open(image)) {
            FileSystemView view = view(device);
            Node one = view.find("/one");
            assertThat(view.find("links/above")).isEqualTo(one);
            assertThat(view.find("/../../one")).isEqualTo(one);
            assertThat(view.find("links/absolute/d/e")).isEqualTo(view.find("/a/b/c/d/e"));
            assertThat(view.find("links/slow")).isEqualTo(view.find("/a/b/c/d"));
            assertThat(view.findLink("links/slow").isSymlink()).isTrue();
            assertThatThrownBy(() -> view.find("links/nowhere"))
                    .isInstanceOf(NotFoundException.class).hasMessageContaining("links/nowhere");
            assertThatThrownBy(() -> view.find("links/loop")).isInstanceOf(NotFoundException.class)
                    .hasMessageContaining("40 links");
            assertThatThrownBy(() -> view.find("one/more")).isInstanceOf(NotFoundException.class)
                    .hasMessageContaining("is not a directory");
        }
    }

    @Test
    void shouldRejectWhatIsOfAnotherKind() throws Exception {
        Path image = smallImage("-t ext4");
        try (BlockDevice device = open(image)) {
            FileSystemView view = view(device);
            assertThatThrownBy(() -> view.newChannel(view.root()))
                    .isInstanceOf(WrongKindException.class);
            assertThatThrownBy(() -> view.list("/one")).isInstanceOf(WrongKindException.class);
            assertThatThrownBy(() -> view.target(view.find("one")))
                    .isInstanceOf(WrongKindException.class);
            try (SeekableByteChannel channel = view.newChannel(view.find("one"))) {
                assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
                        .isInstanceOf(NonWritableChannelException.class);
                assertThat(channel.position(1).read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }

    /** Made by hand: mke2fs has no way to put these into an image. */
    @Test
    void shouldShowOddNamesAndKindsAsTheyAre() throws Exception {
        Path root = Files.createDirectories(folder.resolve("root"));
        Files.write(root.resolve("f"), new byte[]{1});
        Path image = image(root, "-t ext4", "16M");
        Tool.feed("mknod pipe p\nmknod zero c 1 5\nmknod disk b 8 0\nln <12> \"a\nb\"\n"
                + "sif f uid 70000\nsif f gid 80000\nsif f mtime 0x1b1c2d3e\n"
                + "sif f mtime_extra 0x1\nquit\n", "debugfs", "-w", "-f", "-", image.toString());
        Tool.run("debugfs", "-w", "-R", "ln <12> \u0001\u202ename", image.toString());
        try (BlockDevice device = open(image)) {
            FileSystemView view = view(device);
            assertThat(view.find("/pipe").kind()).isEqualTo(Kind.FIFO);
            assertThat(view.find("/zero").mode()).startsWith("c");
            assertThat(view.find("/disk").kind()).isEqualTo(Kind.BLOCK_DEVICE);
            Node file = view.find("/f");
            assertThat(List.of(file.owner(), file.group())).containsExactly(70000L, 80000L);
            assertThat(file.modified().orElseThrow().getEpochSecond())
                    .isEqualTo(0x1b1c2d3eL + (1L << 32));
            assertThat(Names.printable("\u0001\u202ename")).isEqualTo("\ufffd\ufffdname");
            assertThat(view.find("/\u0001\u202ename").id()).isEqualTo(12);
        }
    }

    @Test
    void shouldReadBlocksThatWereNeverWrittenAsZeroes() throws Exception {
        Path root = Files.createDirectories(folder.resolve("root"));
        byte[] data = new byte[4096];
        java.util.Arrays.fill(data, (byte) 7);
        Files.write(root.resolve("f"), data);
        Path image = image(root, "-t ext4 -b 4096", "16M");
        Tool.run("debugfs", "-w", "-R", "fallocate <12> 1 20", image.toString());
        Tool.run("debugfs", "-w", "-R", "sif <12> size 65536", image.toString());
        assertThat(Tool.run("debugfs", "-R", "ex <12>", image.toString())).contains("Uninit");
        try (BlockDevice device = open(image);
                var in = view(device).newInputStream(view(device).find("f"))) {
            assertThat(in.readAllBytes()).isEqualTo(java.util.Arrays.copyOf(data, 65536));
        }
    }

    @Test
    void shouldReportAJournalThatWasNotReplayed() throws Exception {
        Path image = smallImage("-t ext4");
        Tool.run("debugfs", "-w", "-R", "feature needs_recovery", image.toString());
        try (BlockDevice device = open(image)) {
            FileSystemView view = view(device);
            assertThat(view.info().notices()).singleElement().asString()
                    .contains("needs_recovery");
            small.assertSame(view, true);
        }
    }

    @Test
    void shouldRejectFeaturesThatItDoesNotKnow() throws Exception {
        Path image = smallImage("-t ext4");
        Tool.run("debugfs", "-w", "-R", "feature FEATURE_I30", image.toString());
        try (BlockDevice device = open(image)) {
            assertThatThrownBy(() -> view(device)).isInstanceOf(UnsupportedException.class)
                    .hasMessageContaining("incompatible 40000000h");
        }
    }

    @Test
    void shouldReadRemainingPartOfATruncatedImage() throws Exception {
        Path image = smallImage("-t ext4 -b 1024");
        try (var channel = java.nio.channels.FileChannel.open(image,
                java.nio.file.StandardOpenOption.WRITE)) {
            channel.truncate(4 << 20);
        }
        try (BlockDevice device = open(image)) {
            FileSystemView view = view(device);
            assertThat(view.info().notices()).singleElement().asString()
                    .contains("it is truncated");
            assertThat(view.list("/")).isNotEmpty();
        }
    }
}
