package lunar.fs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Tree of files on the host from which an image is made, to be compared with it name by name and byte by byte. */
final class SourceTree {
    private static final long HASHED_BYTES = 64L << 20;
    private static final int SAMPLE_BYTES = 1 << 20;
    private static final int MAX_DEPTH = 64;

    private final Path root;
    private final Random random;

    SourceTree(Path root, long seed) throws IOException {
        this.root = Files.createDirectories(root);
        random = new Random(seed);
    }

    Path root() { return root; }

    SourceTree file(String path, int bytes) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        Files.write(file, data);
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2019-03-04T05:06:08Z")
                .plusSeconds(2L * random.nextInt(1 << 20))));
        return this;
    }

    /** A file with a little at the given places and holes around. */
    SourceTree sparse(String path, long size, long... places) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW,
                StandardOpenOption.SPARSE, StandardOpenOption.WRITE)) {
            byte[] data = new byte[5000];
            for (long place : places) {
                random.nextBytes(data);
                channel.write(ByteBuffer.wrap(data), place);
            }
            if (channel.size() < size) {
                channel.write(ByteBuffer.wrap(new byte[]{1}), size - 1);
            }
        }
        return this;
    }

    SourceTree directory(String path) throws IOException {
        Files.createDirectories(root.resolve(path));
        return this;
    }

    SourceTree files(String folder, int count, String prefix) throws IOException {
        for (int i = 0; i < count; i++) {
            file(folder + "/" + prefix + i, i % 50);
        }
        return this;
    }

    SourceTree link(String path, String target) throws IOException {
        Path link = root.resolve(path);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of(target));
        return this;
    }

    /** Adds content that every file system supports: depth, many entries, names of all kinds, contents of all sizes. */
    SourceTree usual(int many) throws IOException {
        file("empty", 0).file("one", 1).file("short.txt", 59).file("inline", 60)
                .file("inline+1", 61).file("medium.bin", 100_000).file("large.bin", 5 << 20);
        directory("nothing");
        file("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/deep", 1234);
        file("names/with space & <b>\"quotes\"'s", 10).file("names/Grüße aus Köln.txt", 11)
                .file("names/日本語のファイル名", 12).file("names/emoji 🌙 name", 13)
                .file("names/" + "x".repeat(200) + ".long", 14).file("names/#%?&;=+", 15)
                .file("names/UPPER.TXT", 16).file("names/Mixed.Case.name", 17)
                .file("names/.hidden", 18).file("names/trailing-dot.x", 19);
        return files("many", many, "file with a name of some length ");
    }

    SourceTree permissions(String path, String mode) throws IOException {
        Files.setPosixFilePermissions(root.resolve(path), PosixFilePermissions.fromString(mode));
        return this;
    }

    /** Everything below the root is in the view as it is here, and nothing else. */
    void assertSame(FileSystemView view, boolean unix) throws Exception {
        assertSame(view, view.root(), root, unix, 0);
    }

    private void assertSame(FileSystemView view, Node node, Path path, boolean unix, int depth)
            throws Exception {
        assertThat(depth).isLessThan(MAX_DEPTH);
        String name = root.relativize(path).toString();
        if (unix && depth > 0) {
            assertThat(node.modified()).as(name).map(time -> time.truncatedTo(ChronoUnit.SECONDS))
                    .contains(Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS)
                            .toInstant().truncatedTo(ChronoUnit.SECONDS));
            assertThat(node.mode().substring(1)).as(name).isEqualTo(PosixFilePermissions.toString(
                    Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS)));
        }
        if (Files.isSymbolicLink(path)) {
            assertThat(node.kind()).as(name).isEqualTo(Kind.SYMLINK);
            assertThat(view.target(node)).as(name)
                    .isEqualTo(Files.readSymbolicLink(path).toString());
        } else if (Files.isDirectory(path)) {
            assertThat(node.kind()).as(name).isEqualTo(Kind.DIRECTORY);
            assertSameEntries(view, node, path, unix, depth);
        } else {
            assertThat(node.kind()).as(name).isEqualTo(Kind.FILE);
            assertThat(node.sizeBytes()).as(name).isEqualTo(Files.size(path));
            assertSameContent(view, node, path, name);
        }
    }

    private void assertSameEntries(FileSystemView view, Node node, Path path, boolean unix,
            int depth) throws Exception {
        Set<String> expected = new TreeSet<>();
        try (Stream<Path> all = Files.list(path)) {
            all.forEach(each -> expected.add(each.getFileName().toString()));
        }
        Set<String> actual = new TreeSet<>();
        for (DirectoryEntry entry : view.list(node)) {
            if (depth == 0 && entry.name().equals("lost+found")) {
                continue;
            }
            assertThat(actual.add(entry.name())).as("twice: " + entry.name()).isTrue();
            Node child = view.node(entry);
            assertThat(entry.kind()).as(entry.name()).isIn(child.kind(), Kind.UNKNOWN);
            if (expected.contains(entry.name())) {
                assertSame(view, child, path.resolve(entry.name()), unix, depth + 1);
            }
        }
        assertThat(actual).as(path.toString()).isEqualTo(expected);
    }

    private static void assertSameContent(FileSystemView view, Node node, Path path, String name)
            throws Exception {
        if (node.sizeBytes() <= HASHED_BYTES) {
            try (InputStream actual = view.newInputStream(node);
                    InputStream expected = Files.newInputStream(path)) {
                assertThat(sha256(actual)).as(name).isEqualTo(sha256(expected));
            }
            return;
        }
        try (SeekableByteChannel actual = view.newChannel(node);
                SeekableByteChannel expected = Files.newByteChannel(path)) {
            for (long at = 0; at < node.sizeBytes(); at += Math.max(SAMPLE_BYTES,
                    node.sizeBytes() / 61)) {
                assertThat(sample(actual, at)).as(name + " at " + at)
                        .isEqualTo(sample(expected, at));
            }
            long last = node.sizeBytes() - SAMPLE_BYTES;
            assertThat(sample(actual, last)).as(name + "'s end").isEqualTo(sample(expected, last));
        }
    }

    private static byte[] sample(SeekableByteChannel channel, long at) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(SAMPLE_BYTES);
        channel.position(at);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
            continue;
        }
        return java.util.Arrays.copyOf(buffer.array(), buffer.position());
    }

    private static String sha256(InputStream in) throws Exception {
        var digest = MessageDigest.getInstance("SHA-256");
        in.transferTo(new java.security.DigestOutputStream(OutputStream.nullOutputStream(),
                digest));
        return HexFormat.of().formatHex(digest.digest());
    }
}
