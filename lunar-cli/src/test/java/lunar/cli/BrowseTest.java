package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests {@code lunar browse} over an image that mke2fs makes, with an ordinary HTTP client. */
class BrowseTest {
    private static final int LARGE = 3_000_000;
    private static final String HOSTILE = "<img src=x onerror=alert(1)>&\"'";
    private static final Instant MODIFIED = Instant.parse("2021-02-03T04:05:06Z");

    @TempDir
    static Path folder;

    private static final byte[] large = new byte[LARGE];
    private static Path image;
    private static Path copy; // one process opens a file once
    private static CommandRun.Serving serving;
    private static String base;

    @BeforeAll
    static void start() throws Exception {
        Path tree = Files.createDirectories(folder.resolve("tree"));
        new Random(42).nextBytes(large);
        Files.write(tree.resolve("large.bin"), large);
        Files.setLastModifiedTime(tree.resolve("large.bin"), FileTime.from(MODIFIED));
        Files.writeString(tree.resolve("page.html"), "<script>alert(1)</script>");
        Files.writeString(tree.resolve("README"), "Grüße\n");
        Files.write(tree.resolve("blob"), new byte[]{0, 1, 2});
        Files.createFile(tree.resolve("empty.txt"));
        Files.writeString(tree.resolve(HOSTILE), "named badly");
        Files.writeString(tree.resolve("a:b#c?d%e f"), "named oddly");
        Path etc = Files.createDirectories(tree.resolve("etc/deep er"));
        Files.writeString(etc.resolve("hosts"), "127.0.0.1 localhost\n");
        Files.createSymbolicLink(tree.resolve("to-etc"), Path.of("/etc"));
        Files.createSymbolicLink(tree.resolve("to-above"), Path.of("../../../../etc/passwd"));
        Path many = Files.createDirectories(tree.resolve("many"));
        for (int i = 0; i < 2500; i++) {
            Files.writeString(many.resolve(String.format("n%04d", i)), "x".repeat(i % 7));
        }
        image = folder.resolve("image");
        run("mke2fs", "-q", "-t", "ext4", "-L", "moon", "-d", tree.toString(), image.toString(),
                "32M");
        run("debugfs", "-w", "-R", "mknod pipe p", image.toString());
        copy = Files.copy(image, folder.resolve("copy"));
        serving = new CommandRun.Serving(1, "browse", "file:" + image);
        assertThat(serving.lines().getFirst())
                .matches("browsing file:\\S+ at http://127\\.0\\.0\\.1:\\d+/");
        base = serving.lines().getFirst().replaceFirst(".* at ", "");
    }

    @AfterAll
    static void end() throws Exception {
        if (serving != null) {
            assertThat(serving.end()).isZero();
        }
    }

    private static void run(String... command) throws Exception {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException _) {
            Assumptions.abort(command[0] + " is not installed (Debian: e2fsprogs)");
            return;
        }
        String printed = new String(process.getInputStream().readAllBytes(),
                StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(printed).isZero();
    }

    private static HttpAnswer send(String method, String path, String... headers)
            throws IOException {
        return HttpAnswer.to(method, base + path, headers);
    }

    private static HttpAnswer get(String path, String... headers) throws IOException {
        return send("GET", path, headers);
    }

    private static JsonNode json(String path, String... headers) throws Exception {
        HttpAnswer response = get(path, headers);
        assertThat(response.header("Content-Type")).isEqualTo("application/json");
        return JsonMapper.shared().readTree(response.text());
    }

    @Test
    void shouldShowDirectoriesAsPages() throws Exception {
        HttpAnswer start = get("");
        assertThat(start.status()).isEqualTo(302);
        assertThat(start.header("Location")).isEqualTo("/0/");
        HttpAnswer root = get("0/");
        assertThat(root.status()).isEqualTo(200);
        assertThat(root.header("Content-Type")).isEqualTo("text/html; charset=utf-8");
        assertThat(root.header("Content-Security-Policy")).startsWith("default-src 'none'")
                .doesNotContain("script", "unsafe");
        assertThat(root.text()).contains("<a href=\"./etc/\">etc</a>", "moon", "2.9 MiB",
                "2021-02-03 04:05", "-rw-r--r--", "→ /etc").doesNotContain("<script", "http://");
        HttpAnswer deep = get("0/etc/deep%20er");
        assertThat(deep.header("Location")).isEqualTo("/0/etc/deep%20er/");
        assertThat(get("0/etc/deep%20er/").text()).contains("<a href=\"/0/etc/\">etc</a>",
                "<b>deep er</b>", "./hosts");
    }

    @Test
    void shouldEscapeNames() throws Exception {
        String page = get("0/").text();
        assertThat(page).doesNotContain("<img").contains(
                "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;",
                "href=\"./%3Cimg%20src=x%20onerror=alert(1)%3E%26%22'\"",
                "href=\"./a%3Ab%23c%3Fd%25e%20f\"");
        HttpAnswer oddly = get("0/a%3Ab%23c%3Fd%25e%20f");
        assertThat(oddly.text()).isEqualTo("named oddly");
        HttpAnswer badly = get("0/%3Cimg%20src=x%20onerror=alert(1)%3E%26%22'");
        assertThat(badly.text()).isEqualTo("named badly");
        assertThat(badly.header("Content-Disposition")).startsWith(
                "inline; filename=\"<img src=x onerror=alert(1)>&_'\"; filename*=UTF-8''%3Cimg");
    }

    @Test
    void shouldServeFilesWithoutExecutingThem() throws Exception {
        Map<String, String> types = new TreeMap<>(Map.of("page.html", "text/html", "README",
                "text/plain; charset=utf-8", "blob", "application/octet-stream", "empty.txt",
                "text/plain; charset=utf-8", "large.bin", "application/octet-stream"));
        for (var each : types.entrySet()) {
            HttpAnswer file = get("0/" + each.getKey());
            assertThat(file.status()).isEqualTo(200);
            assertThat(file.header("Content-Type")).isEqualTo(each.getValue());
            assertThat(file.header("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(file.header("Content-Security-Policy")).endsWith("; sandbox")
                    .contains("default-src 'none'");
            assertThat(file.header("Content-Length"))
                    .isEqualTo(Integer.toString(file.body().length));
        }
        assertThat(get("0/large.bin").body()).isEqualTo(large);
        assertThat(get("0/README").text()).isEqualTo("Grüße\n");
        assertThat(get("0/README?download").header("Content-Disposition"))
                .startsWith("attachment; ");
    }

    @Test
    void shouldSendPartsOfFiles() throws Exception {
        assertPart("bytes=0-0", 0, 1);
        assertPart("bytes=1000-70000", 1000, 70001);
        assertPart("bytes=2999990-", 2_999_990, LARGE);
        assertPart("bytes=-17", LARGE - 17, LARGE);
        assertPart("bytes=2999990-99999999", 2_999_990, LARGE);
        for (String whole : List.of("bytes=5-4", "bytes=0-1,5-6", "lines=1-2", "bytes=-", "x")) {
            assertThat(get("0/large.bin", "Range", whole).status()).as(whole).isEqualTo(200);
        }
        for (String none : List.of("bytes=3000000-", "bytes=3000000-3000001", "bytes=-0")) {
            HttpAnswer answer = get("0/large.bin", "Range", none);
            assertThat(answer.status()).as(none).isEqualTo(416);
            assertThat(answer.header("Content-Range")).isEqualTo("bytes */3000000");
        }
    }

    private static void assertPart(String range, int from, int to) throws Exception {
        HttpAnswer part = get("0/large.bin", "Range", range);
        assertThat(part.status()).as(range).isEqualTo(206);
        assertThat(part.header("Content-Range"))
                .isEqualTo("bytes " + from + "-" + (to - 1) + "/" + LARGE);
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(large, from, to));
    }

    @Test
    void shouldReportWhatHasNotChanged() throws Exception {
        HttpAnswer file = send("HEAD", "0/large.bin");
        assertThat(file.body()).isEmpty();
        assertThat(file.header("Content-Length")).isEqualTo("3000000");
        assertThat(file.header("Last-Modified")).isEqualTo("Wed, 03 Feb 2021 04:05:06 GMT");
        String tag = file.header("ETag");
        assertThat(get("0/large.bin", "If-None-Match", "\"x\", " + tag).status())
                .isEqualTo(304);
        assertThat(get("0/large.bin", "If-None-Match", "\"x\"").status()).isEqualTo(200);
        assertThat(get("0/large.bin", "If-Modified-Since", "Wed, 03 Feb 2021 04:05:06 GMT")
                .status()).isEqualTo(304);
        assertThat(get("0/large.bin", "If-Modified-Since", "Wed, 03 Feb 2021 04:05:05 GMT")
                .status()).isEqualTo(200);
        assertThat(get("0/large.bin", "Range", "bytes=0-1", "If-Range", tag).status())
                .isEqualTo(206);
        assertThat(get("0/large.bin", "Range", "bytes=0-1", "If-Range", "\"x\"").status())
                .isEqualTo(200);
        assertThat(send("HEAD", "0/").body()).isEmpty();
    }

    @Test
    void shouldListForMachines() throws Exception {
        JsonNode volumes = json("?format=json");
        assertThat(volumes.at("/volumes/0/fileSystem").asString()).isEqualTo("ext4");
        assertThat(volumes.at("/partitionTable").asString()).isEqualTo("none");
        JsonNode root = json("0/", "Accept", "application/json");
        var byName = new TreeMap<String, JsonNode>();
        root.get("entries").forEach(each -> byName.put(each.get("name").asString(), each));
        assertThat(byName).containsKeys(HOSTILE, "etc", "lost+found", "many", "to-etc");
        assertThat(byName.get("large.bin").get("sizeBytes").asLong()).isEqualTo(LARGE);
        assertThat(byName.get("large.bin").get("modified").asString())
                .isEqualTo(MODIFIED.toString());
        assertThat(byName.get("to-etc").get("target").asString()).isEqualTo("/etc");
        assertThat(byName.get("pipe").get("kind").asString()).isEqualTo("fifo");
        assertThat(json("0/many/?format=json").get("entries").size()).isEqualTo(2500);
        JsonNode missing = json("0/none?format=json");
        assertThat(missing.get("status").asInt()).isEqualTo(404);
    }

    @Test
    void shouldSortAndTurnPages() throws Exception {
        String first = get("0/many/").text();
        assertThat(first).contains("./n0000\"", "./n0999\"", "Page 1 of 3",
                "href=\"?sort=name&amp;page=2\"", "2,500 files").doesNotContain("./n1000\"");
        assertThat(get("0/many/?page=3").text()).contains("./n2499\"").doesNotContain("Next");
        assertThat(get("0/many/?page=99999999999").text()).contains("Page 1 of 3");
        JsonNode sorted = json("0/many/?format=json&sort=size&order=desc");
        assertThat(sorted.at("/entries/0/sizeBytes").asLong()).isEqualTo(6);
        assertThat(sorted.at("/entries/2499/sizeBytes").asLong()).isZero();
    }

    @Test
    void shouldKeepPathsWithinTheVolume() throws Exception {
        assertThat(get("0/to-etc/deep%20er/hosts").text()).isEqualTo("127.0.0.1 localhost\n");
        for (String path : List.of("0/../etc/passwd", "0/%2e%2e/%2e%2e/etc/passwd",
                "0/etc/%2e%2e/README", "0//etc/", "0/etc%2Fdeep%20er/", "0/to-above", "1/", "x",
                "999999999999/", "0/none", "0/README/", "0/README/x", "0/pipe",
                "0/etc%00/")) {
            assertThat(get(path).status()).as(path).isEqualTo(404);
        }
        for (String path : List.of("GET /0/../../../etc/passwd", "GET ../etc/passwd", "GET *",
                "GET /0/%zz", "GET http://other/0/../../etc/passwd")) {
            assertThat(raw(path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).as(path)
                    .matches("(?s)(HTTP/1.1 40[04] .*|)").doesNotContain("root:");
        }
    }

    @Test
    void shouldRejectOtherMethodsAndOtherHosts() throws Exception {
        HttpAnswer post = send("POST", "0/");
        assertThat(post.status()).isEqualTo(405);
        assertThat(post.header("Allow")).isEqualTo("GET, HEAD");
        assertThat(send("DELETE", "0/README").status()).isEqualTo(405);
        assertThat(raw("GET /0/ HTTP/1.1\r\nHost: evil.example:80\r\n\r\n"))
                .startsWith("HTTP/1.1 421 ");
        assertThat(raw("GET /0/ HTTP/1.1\r\nHost: localhost:1\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
    }

    private static String raw(String request) throws IOException {
        URI uri = URI.create(base);
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()));
            socket.setSoTimeout(120_000);
            socket.getOutputStream().write(
                    request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void shouldListAndPrintOnTheTerminal() {
        String list = CommandRun.of("browse", "file:" + copy, "--list", "/").succeeds().out();
        assertThat(list).containsPattern(
                "(?m)^-rw-r--r-- +\\d+:\\d+ +2.9 MiB  2021-02-03T04:05:06Z {2}large.bin$")
                .containsPattern("(?m)^lrwxrwxrwx .* to-etc -> /etc$");
        assertThat(CommandRun.of("browse", "file:" + copy, "--list", "etc/deep er/hosts",
                "--json").succeeds().out()).contains("\"sizeBytes\" : 20");
        var out = new ByteArrayOutputStream();
        assertThat(Main.run(new String[]{"browse", "file:" + copy, "--cat", "large.bin"},
                new PrintStream(out), new PrintStream(OutputStream.nullOutputStream()))).isZero();
        assertThat(out.toByteArray()).isEqualTo(large);
        CommandRun.of("browse", "file:" + copy, "--cat", "/none").fails(1,
                "'/none' does not exist");
        CommandRun.of("browse", "file:" + copy, "--volume", "7", "--cat", "/none").fails(1,
                "no volume 7", "0 (whole device)");
    }

    @Test
    void shouldReportErrorInOneLine() throws IOException {
        CommandRun.of("browse", "ram:1MiB").fails(1, "cannot show the files of ram:1MiB",
                "no ext2, ext3, ext4 or FAT");
        CommandRun.of("browse", "file:" + folder.resolve("none")).fails(1, "does not exist");
        CommandRun.of("browse", "encrypt=" + folder.resolve("key") + ":file:" + copy).fails(1,
                "does not exist");
        assertThat(folder.resolve("key")).doesNotExist();
        CommandRun.of("browse", "file:" + copy, "--listen", "0.0.0.0:0").fails(1,
                "--allow-anonymous");
        String port = base.replaceFirst(".*:(\\d+)/", "$1");
        CommandRun.of("browse", "file:" + copy, "--listen", "127.0.0.1:" + port).fails(1,
                "cannot listen on 127.0.0.1:" + port);
    }

    @Test
    void shouldEndCleanlyOnSigterm() throws Exception {
        Path err = folder.resolve("err.txt");
        Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main", "browse",
                "file:" + image).redirectError(err.toFile()).start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String url = out.readLine().replaceFirst(".* at ", "");
            assertThat(HttpAnswer.to("GET", url + "0/README").text()).isEqualTo("Grüße\n");
            process.destroy();
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(err)).isZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(Files.readString(err)).isEmpty();
    }
}
