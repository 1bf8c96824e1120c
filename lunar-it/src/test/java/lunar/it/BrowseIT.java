package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.filter.KeyFile;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests {@code lunar browse}: it shows over HTTP what foreign tools have put on a partitioned disk, for every kind of
 * device.
 */
class BrowseIT {
    private static final int MIB = 1 << 20;
    private static final int DISK_MIB = 80;
    private static final Pattern HREF = Pattern.compile("\"href\":\"([^\"]*)\",\"kind\":\"(\\w+)");

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    private Path tree;

    @BeforeEach
    void needTools() { Peer.assume("sgdisk", "mkfs.vfat", "mcopy", "mke2fs"); }

    /** A GPT disk with the same files in a FAT32 and in an ext4 file system. */
    private Path disk() throws Exception {
        tree = Files.createDirectories(folder.resolve("tree/a/b"));
        var random = new Random(Seed.next());
        for (int size : new int[]{0, 1, 4095, 4096, 100_000, 3 * MIB}) {
            byte[] data = new byte[size];
            random.nextBytes(data);
            Files.write(tree.resolve("Größe " + size + " & mehr"), data);
        }
        tree = folder.resolve("tree");
        Path image = folder.resolve("disk.img");
        try (BlockDevice device = Devices.open("file:" + image + "?size=" + DISK_MIB + "MiB")) {
            assertThat(device.sizeBytes()).isEqualTo((long) DISK_MIB * MIB);
        }
        Peer.run("sgdisk", "-n", "1:2048:+40M", "-t", "1:ef00", "-c", "1:BOOT", "-n", "2:0:+32M",
                "-c", "2:ROOT", image.toString()).succeeded();
        Peer.run("mkfs.vfat", "-F", "32", "-s", "1", "-n", "BOOT", "--offset=2048",
                image.toString(), Integer.toString(40 * 1024)).succeeded();
        Peer.run("env", "LC_ALL=C.UTF-8", "mcopy", "-s", "-i", image + "@@1M",
                tree.resolve("a").toString(), "::").succeeded();
        Peer.run("mke2fs", "-q", "-t", "ext4", "-L", "root", "-d", tree.toString(), "-E",
                "offset=" + 41 * MIB, image.toString(), "32M").succeeded();
        return image;
    }

    @Test
    void shouldShowFilesOfALun() throws Exception {
        try (ServedTarget target = ServedTarget.of("file:" + disk())) {
            assertShown(target.url(0));
        }
    }

    @Test
    void shouldShowFilesOfALunWithLargerBlocks() throws Exception {
        try (ServedTarget target = ServedTarget.of("file:" + disk() + "?block-size=4096")) {
            assertShown(target.url(0));
        }
    }

    @Test
    void shouldShowFilesOfAnEncryptedImage() throws Exception {
        Path key = folder.resolve("key");
        new KeyFile(key).create();
        String uri = "encrypt=" + key + ":file:" + folder.resolve("secret.img");
        try (BlockDevice from = Devices.open("file:" + disk());
                BlockDevice to = Devices.open(uri + "?size=" + DISK_MIB + "MiB")) {
            var buffer = MemorySegment.ofArray(new byte[MIB]);
            for (long lba = 0; lba < from.blockCount(); lba += MIB / from.blockSize()) {
                from.read(lba, buffer);
                to.write(lba, buffer);
            }
        }
        assertShown(uri);
    }

    private void assertShown(String uri) throws Exception {
        Path errors = folder.resolve("errors.txt");
        Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main", "browse", uri)
                .redirectError(errors.toFile()).start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line = out.readLine();
            assertThat(line).as(Files.readString(errors))
                    .startsWith("browsing " + uri + " at http://127.0.0.1:");
            String url = line.substring(line.lastIndexOf(' ') + 1, line.length() - 1);
            assertThat(text(url + "/")).contains("BOOT", "FAT32", "root", "ext4",
                    "Partition table: GPT");
            Map<String, String> expected = hashes(tree);
            assertThat(expected).hasSize(6);
            assertThat(hashes(url + "/1/")).isEqualTo(expected);
            assertThat(hashes(url + "/2/")).isEqualTo(expected);
            process.destroy();
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("ends at SIGTERM").isTrue();
            assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** SHA-256 of each file, by its path. */
    private static Map<String, String> hashes(Path root) throws Exception {
        var hashes = new TreeMap<String, String>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                hashes.put(root.relativize(file).toString(), sha256(Files.readAllBytes(file)));
            }
        }
        return hashes;
    }

    private Map<String, String> hashes(String url) throws Exception {
        var hashes = new TreeMap<String, String>();
        collect(url, "", hashes);
        return hashes;
    }

    private void collect(String url, String path, Map<String, String> hashes) throws Exception {
        Matcher entries = HREF.matcher(text(url + path + "?format=json"));
        while (entries.find()) {
            String child = path + entries.group(1);
            if (entries.group(2).equals("directory")) {
                collect(url, child + "/", hashes);
            } else {
                hashes.put(URI.create(child).getPath(), sha256(client.send(
                        HttpRequest.newBuilder(URI.create(url + child)).build(),
                        HttpResponse.BodyHandlers.ofByteArray()).body()));
            }
        }
    }

    private String text(String url) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(url)).build(),
                HttpResponse.BodyHandlers.ofString()).body();
    }

    private static String sha256(byte[] data) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
    }
}
