package lunar.fs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.testkit.Seed;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests images with bytes changed at random: reading them ends with a declared exception or returns data, with a
 * bounded amount of reads. The device permits only reads within it.
 */
class DamagedImageTest {
    private static final int ROUNDS = 3000;
    private static final int MAX_NODES = 400;
    private static final int MAX_DEPTH = 12;
    private static final int PART_BYTES = 32 << 10;

    /** A walk reads each node's own blocks, its map and some content; no field of an image makes that much more. */
    private static final long MAX_READ_BYTES = 1L << 30;

    @TempDir
    Path folder;

    static Stream<String> images() {
        return Stream.of("mke2fs -q -t ext2 -b 1024", "mke2fs -q -t ext4 -b 1024",
                "mke2fs -q -t ext4 -I 512 -O inline_data,64bit,meta_bg,^resize_inode -b 1024",
                "mkfs.vfat -F 12", "mkfs.vfat -F 16 -s 1", "mkfs.vfat -F 32 -s 1", "sgdisk",
                "sfdisk");
    }

    private byte[] image(String maker, long seed) throws Exception {
        String[] words = maker.split(" ");
        Tool.assume(words[0]);
        var tree = new SourceTree(folder.resolve("tree"), seed).file("a/b/c", 3000)
                .file("a/long name of a file.txt", 40).file("d", 120_000)
                .files("many", 60, "name ");
        Path image = folder.resolve("image");
        boolean ext = words[0].equals("mke2fs");
        if (ext) {
            tree.link("link", "a/b").link("slow", "./".repeat(50) + "d")
                    .sparse("sparse", 900_000, 0, 300_000, 600_000);
        }
        Files.write(image, new byte[words[0].startsWith("s") ? 5 << 20 : 0]);
        if (words[0].equals("sgdisk")) {
            Tool.run("sgdisk", "-n", "1:0:+1M", "-c", "1:x", "-n", "2:0:+1M", image.toString());
        } else if (words[0].equals("sfdisk")) {
            Tool.feed("label: dos\nstart=64, size=64, type=c\nsize=64, type=83\n"
                    + "type=5\nsize=64, type=83\nsize=64, type=82\n", "sfdisk", "-q",
                    image.toString());
        } else {
            Files.delete(image);
            var command = new ArrayList<>(List.of(words));
            command.addAll(ext
                    ? List.of("-d", tree.root().toString(), image.toString(), "2M")
                    : List.of("-C", image.toString(),
                            maker.contains("12")
                                    ? "1440"
                                    : maker.contains("16") ? "6000" : "36000"));
            Tool.run(command.toArray(String[]::new));
            if (!ext) {
                Tool.run("mcopy", "-s", "-i", image.toString(),
                        tree.root().resolve("a").toString(), tree.root().resolve("d").toString(),
                        tree.root().resolve("many").toString(), "::");
            }
        }
        return Files.readAllBytes(image);
    }

    @ParameterizedTest
    @MethodSource("images")
    void shouldFailOnDamageWithTypedExceptionsOnly(String maker) throws Exception {
        long seed = Seed.next();
        byte[] original = image(maker, seed);
        byte[] bytes = original.clone();
        int[] used = used(original);
        var device = new ReadOnlyBytes(bytes);
        assertThat(walk(device)).as("what is not damaged").isZero();
        var random = new Random(seed);
        int failures = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int[] places = damage(bytes, used, random);
            device.takeReadBytes();
            try {
                failures += walk(device);
            } catch (FsException _) {
                failures++;
            } catch (IOException | RuntimeException | Error e) {
                throw new AssertionError(maker + ", seed " + seed + ", round " + round, e);
            }
            assertThat(device.takeReadBytes()).as(maker + ", seed " + seed + ", round " + round)
                    .isLessThan(MAX_READ_BYTES);
            for (int place : places) {
                System.arraycopy(original, place, bytes, place,
                        Math.min(8, bytes.length - place));
            }
        }
        if (!maker.startsWith("s")) {
            assertThat(failures).as("damage that was seen, seed " + seed).isPositive();
        }
    }

    /** Bytes in sectors that are not all zeroes; those at the start, where the structures are, count more. */
    private static int[] used(byte[] image) {
        var places = new ArrayList<Integer>();
        for (int sector = 0; sector + 512 <= image.length; sector += 512) {
            boolean empty = true;
            for (int i = 0; i < 512 && empty; i++) {
                empty = image[sector + i] == 0;
            }
            for (int i = 0; !empty && i < 512; i++) {
                if (image[sector + i] != 0 || i % 16 == 0) {
                    places.add(sector + i);
                }
            }
        }
        return places.stream().mapToInt(each -> each).toArray();
    }

    private static int[] damage(byte[] bytes, int[] used, Random random) {
        int[] places = new int[1 + random.nextInt(12)];
        for (int i = 0; i < places.length; i++) {
            int among = random.nextBoolean() ? used.length : Math.min(used.length, 6000);
            places[i] = Math.min(used[random.nextInt(among)], bytes.length - 8);
            ByteBuffer there = ByteBuffer.wrap(bytes, places[i], 8)
                    .order(java.nio.ByteOrder.LITTLE_ENDIAN);
            switch (random.nextInt(6)) {
                case 0 -> there.put((byte) random.nextInt());
                case 1 -> there.put((byte) -1);
                case 2 -> there.putShort((short) random.nextInt());
                case 3 -> there.putInt(random.nextInt(5000));
                case 4 -> there.putInt(random.nextBoolean() ? -1 : Integer.MAX_VALUE);
                default -> there.putInt(0);
            }
        }
        return places;
    }

    /** Looks at all there is, within bounds, and returns how many things were damaged. */
    private static int walk(BlockDevice device) throws IOException {
        int failures = 0;
        for (Volume volume : PartitionTable.read(device).volumes()) {
            try {
                var walk = new Walk(FileSystemView.open(device, volume));
                walk.directory(walk.view.root(), 0);
                failures += walk.failures;
            } catch (UnsupportedException _) {
                continue; // the partitions are empty
            }
        }
        return failures;
    }

    private static final class Walk {
        private final FileSystemView view;
        private final byte[] part = new byte[PART_BYTES];
        private int nodes;
        private int failures;

        Walk(FileSystemView view) { this.view = view; }

        void directory(Node directory, int depth) throws IOException {
            var entries = new ArrayList<DirectoryEntry>();
            try {
                view.visit(directory, entry -> entries.size() < MAX_NODES && entries.add(entry));
            } catch (FsException _) {
                failures++;
            }
            for (DirectoryEntry entry : entries) {
                assertThat(entry.name()).isNotEmpty().doesNotContain("/", "\0")
                        .isNotIn(".", "..");
                if (++nodes > MAX_NODES) {
                    return;
                }
                try {
                    look(view.node(entry), depth);
                } catch (FsException _) {
                    failures++;
                }
            }
        }

        private void look(Node node, int depth) throws IOException {
            assertThat(node.sizeBytes()).isNotNegative();
            switch (node.kind()) {
                case DIRECTORY -> {
                    if (depth < MAX_DEPTH) {
                        directory(node, depth + 1);
                    }
                }
                case FILE -> {
                    try (SeekableByteChannel channel = view.newChannel(node)) {
                        channel.read(ByteBuffer.wrap(part));
                        channel.position(Math.max(0, node.sizeBytes() - PART_BYTES));
                        channel.read(ByteBuffer.wrap(part));
                    }
                }
                case SYMLINK -> assertThat(view.target(node)).hasSizeLessThanOrEqualTo(4096);
                default -> assertThat(node.mode()).hasSize(10);
            }
        }
    }
}
