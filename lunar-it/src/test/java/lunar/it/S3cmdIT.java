package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lunar.block.Size;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Debian's s3cmd on a store of objects: an S3 client that knows nothing of it. */
class S3cmdIT {
    private static final Duration BOUND = Duration.ofMinutes(5);
    /** Bytes of the large file; 1GiB on demand. */
    private static final long LARGE_BYTES = Size
            .parse(System.getProperty("lunar.s3.size", "64MiB"));

    @TempDir
    private Path folder;

    @BeforeAll
    static void requirePeer() { Peer.assume("s3cmd", "curl"); }

    private Peer.Result s3cmd(Path configuration, String... arguments)
            throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("s3cmd", "-c", configuration.toString(),
                "--no-progress"));
        command.addAll(List.of(arguments));
        return Peer.run(BOUND, command.toArray(String[]::new));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String digest(Path file) throws IOException {
        MessageDigest digest = sha256();
        try (InputStream in = Files.newInputStream(file)) {
            var buffer = new byte[1 << 20];
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                digest.update(buffer, 0, count);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private Path file(String name, long length) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        var random = new Random(length);
        var buffer = new byte[1 << 20];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (long left = length; left > 0; left -= buffer.length) {
                random.nextBytes(buffer);
                out.write(buffer, 0, (int) Math.min(left, buffer.length));
            }
        }
        return file;
    }

    @Test
    void shouldServeS3cmd() throws Exception {
        try (var store = new S3Store(folder.resolve("objects"))) {
            Path cfg = S3Store.s3cmdConfiguration(folder, store.address());
            s3cmd(cfg, "mb", "s3://bucket").succeeded();
            assertThat(s3cmd(cfg, "ls").succeeded().output()).contains("s3://bucket");

            Path small = file("small", 12_345);
            s3cmd(cfg, "put", small.toString(), "s3://bucket/dir/a b+ä.bin",
                    "--add-header=x-amz-meta-color:blue", "--mime-type=text/x-test").succeeded();
            s3cmd(cfg, "put", small.toString(), "s3://bucket/other").succeeded();
            assertThat(s3cmd(cfg, "ls", "s3://bucket/d").succeeded().output()).contains("DIR")
                    .contains("s3://bucket/dir/");
            assertThat(s3cmd(cfg, "ls", "--recursive", "s3://bucket/dir").succeeded().output())
                    .contains("12345").contains("s3://bucket/dir/a b+")
                    .doesNotContain("other");
            s3cmd(cfg, "get", "s3://bucket/dir/a b+ä.bin", folder.resolve("got").toString())
                    .succeeded();
            assertThat(digest(folder.resolve("got"))).isEqualTo(digest(small));
            s3cmd(cfg, "cp", "s3://bucket/dir/a b+ä.bin", "s3://bucket/copy").succeeded();
            assertThat(s3cmd(cfg, "info", "s3://bucket/copy").output()).contains("text/x-test")
                    .contains("x-amz-meta-color").contains("blue");

            s3cmd(cfg, "del", "s3://bucket/other").succeeded();
            assertThat(s3cmd(cfg, "rb", "s3://bucket").status()).isNotZero();
            s3cmd(cfg, "del", "--recursive", "--force", "s3://bucket/").succeeded();
            assertThat(s3cmd(cfg, "ls", "--recursive", "s3://bucket").succeeded().lines())
                    .isEmpty();
            s3cmd(cfg, "rb", "s3://bucket").succeeded();
            assertThat(s3cmd(cfg, "ls").succeeded().output()).doesNotContain("bucket");
        }
    }

    @Test
    void shouldTakeLargeFileInParts() throws Exception {
        try (var store = new S3Store(folder.resolve("objects"))) {
            Path cfg = S3Store.s3cmdConfiguration(folder, store.address());
            s3cmd(cfg, "mb", "s3://bucket").succeeded();
            Path large = file("large", LARGE_BYTES + 777);
            s3cmd(cfg, "put", large.toString(), "s3://bucket/large",
                    "--multipart-chunk-size-mb=15").succeeded();
            assertThat(curl(store, "--head").output()).as("an ETag of several parts")
                    .containsPattern("(?i)etag: \"[0-9a-f]{32}-[0-9]+\"");
            s3cmd(cfg, "get", "s3://bucket/large", folder.resolve("got").toString()).succeeded();
            assertThat(Files.size(folder.resolve("got"))).isEqualTo(LARGE_BYTES + 777);
            assertThat(digest(folder.resolve("got"))).isEqualTo(digest(large));

            // Again in one request, in place of the other; then a range of it by curl.
            s3cmd(cfg, "put", large.toString(), "s3://bucket/large", "--disable-multipart")
                    .succeeded();
            assertThat(curl(store, "--head").output())
                    .containsPattern("(?i)etag: \"[0-9a-f]{32}\"");
            requireRange(store, large);
            s3cmd(cfg, "get", "s3://bucket/large", folder.resolve("again").toString())
                    .succeeded();
            assertThat(digest(folder.resolve("again"))).isEqualTo(digest(large));
            s3cmd(cfg, "del", "s3://bucket/large").succeeded();
        }
    }

    /** Runs curl, which signs the request, for the large object. */
    private static Peer.Result curl(S3Store store, String... options) throws Exception {
        var command = new ArrayList<>(List.of("curl", "--silent", "--show-error", "--fail",
                "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                S3Store.KEY + ':' + S3Store.SECRET, "--header",
                "x-amz-content-sha256: UNSIGNED-PAYLOAD"));
        command.addAll(List.of(options));
        command.add("http://" + store.address() + "/bucket/large");
        return Peer.run(BOUND, command.toArray(String[]::new)).succeeded();
    }

    private void requireRange(S3Store store, Path file) throws Exception {
        Path part = folder.resolve("part");
        var _ = curl(store, "--range", "1000000-1999999", "--output", part.toString());
        try (var in = Files.newByteChannel(file)) {
            var expected = ByteBuffer.allocate(1_000_000);
            in.position(1_000_000);
            assertThat(in.read(expected)).isEqualTo(expected.capacity());
            assertThat(Files.readAllBytes(part)).isEqualTo(expected.array());
        }
    }

    @Test
    void shouldSynchronizeFolders() throws Exception {
        try (var store = new S3Store(folder.resolve("objects"))) {
            Path cfg = S3Store.s3cmdConfiguration(folder, store.address());
            s3cmd(cfg, "mb", "s3://bucket").succeeded();
            for (int i = 0; i < 20; i++) {
                var _ = file("tree/" + i % 3 + "/file" + i, 1000 * i);
            }
            String tree = folder.resolve("tree") + "/";
            s3cmd(cfg, "sync", tree, "s3://bucket/tree/").succeeded();
            assertThat(s3cmd(cfg, "sync", tree, "s3://bucket/tree/").succeeded().output())
                    .as("nothing to do").doesNotContain("upload:");
            Files.delete(folder.resolve("tree/0/file3"));
            var _ = file("tree/1/file1", 5555);
            s3cmd(cfg, "sync", "--delete-removed", tree, "s3://bucket/tree/").succeeded();
            Files.createDirectory(folder.resolve("back"));
            s3cmd(cfg, "sync", "s3://bucket/tree/", folder.resolve("back") + "/").succeeded();
            try (var files = Files.walk(folder.resolve("tree"))) {
                for (Path each : files.filter(Files::isRegularFile).toList()) {
                    Path back = folder.resolve("back")
                            .resolve(folder.resolve("tree").relativize(each));
                    assertThat(digest(back)).as(back.toString()).isEqualTo(digest(each));
                }
            }
            assertThat(folder.resolve("back/0/file3")).doesNotExist();
        }
    }

    /** Everything that was acknowledged is there after both processes have been killed; an upload can be aborted. */
    @Test
    void shouldKeepAcknowledgedObjectsWhenKilled() throws Exception {
        Path keys = S3Store.keyFile(folder);
        String device = "osd:" + folder.resolve("objects");
        Path small = file("small", 300_000);
        Path other = file("other", 300_001);
        try (var target = Served.start("serve", device + "?create=true", "--portal",
                "127.0.0.1:0");
                var s3 = s3(target, keys)) {
            Path cfg = S3Store.s3cmdConfiguration(folder, s3.address());
            s3cmd(cfg, "mb", "s3://bucket").succeeded();
            s3cmd(cfg, "put", other.toString(), "s3://bucket/replaced").succeeded();
            s3cmd(cfg, "put", small.toString(), "s3://bucket/replaced").succeeded();
            s3cmd(cfg, "put", other.toString(), "s3://bucket/removed").succeeded();
            s3cmd(cfg, "del", "s3://bucket/removed").succeeded();
            s3cmd(cfg, "put", small.toString(), "s3://bucket/kept").succeeded();
            s3.kill();
            target.kill();
        }
        try (var target = Served.start("serve", device, "--portal", "127.0.0.1:0");
                var s3 = s3(target, keys)) {
            Path cfg = S3Store.s3cmdConfiguration(folder, s3.address());
            assertThat(s3cmd(cfg, "ls", "--recursive", "s3://bucket").succeeded().output())
                    .contains("kept").contains("replaced").doesNotContain("removed");
            for (String key : List.of("kept", "replaced")) {
                s3cmd(cfg, "get", "s3://bucket/" + key, folder.resolve(key).toString())
                        .succeeded();
                assertThat(digest(folder.resolve(key))).as(key).isEqualTo(digest(small));
            }
            s3.stop();
            target.stop();
        }
    }

    private static Served s3(Served target, Path keys) throws IOException {
        return Served.start("osd", "s3",
                "iscsi://" + target.address() + "/" + target.word(1) + "/0",
                "--listen", "127.0.0.1:0", "--credentials", keys.toString());
    }

    /** A {@code lunar} process that serves something, and says where in its first line. */
    private static final class Served implements AutoCloseable {
        private static final long END_SECONDS = 120;

        private final Process process;
        private final String line;

        private Served(Process process, String line) {
            this.process = process;
            this.line = line;
        }

        static Served start(String... arguments) throws IOException {
            var command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED", "-cp",
                    System.getProperty("java.class.path"), "lunar.cli.Main"));
            command.addAll(List.of(arguments));
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            String line = out.readLine();
            while (line != null && !line.startsWith("serving ")) {
                line = out.readLine();
            }
            if (line == null) {
                process.destroyForcibly();
                throw new AssertionError("has ended: lunar " + String.join(" ", arguments));
            }
            return new Served(process, line);
        }

        String word(int index) { return line.split(" ", -1)[index]; }

        String address() {
            return line.substring(line.lastIndexOf(' ') + 1).replaceAll("^http://|/$", "");
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        void stop() throws InterruptedException {
            process.destroy();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(line).isZero();
        }

        @Override
        public void close() { process.destroyForcibly(); }
    }
}
