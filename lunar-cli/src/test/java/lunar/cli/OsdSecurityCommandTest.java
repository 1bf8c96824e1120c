package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Object stores with security: keys, credentials for others, and their revocation, as an operator does it. */
class OsdSecurityCommandTest {
    private static final String ANY = "iscsi://127.0.0.1:1/iqn.2026-11.org.lunar:disk/0";

    @TempDir
    private Path folder;

    private static String out(String... args) {
        return CommandRun.of(args).succeeds().out().strip();
    }

    private String path(String name) { return folder.resolve(name).toString(); }

    @Test
    void shouldHandOutAndRevokeCredentials() throws Exception {
        String key = path("master.key");
        out("osd", "newkey", key);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of(key))))
                .isEqualTo("rw-------");
        Files.writeString(folder.resolve("film"), "moving pictures");
        try (var server = new CommandRun.Serving(1, "serve", "osd:" + path("store")
                + "?create=true&security=cmdrsp&key-file=" + key, "--portal", "127.0.0.1:0")) {
            String uri = server.uri(0);
            CommandRun.of("osd", "mkpart", uri).fails(1, "--key-file or --credential");
            assertThat(out("osd", "mkpart", uri, "--key-file", key)).isEqualTo("0x10000");
            out("osd", "put", uri, "0x10000", "0x10001", "--file", path("film"), "--key-file", key,
                    "--security", "alldata", "--verify");

            String credential = path("film.cred");
            assertThat(out("osd", "grant", uri, "0x10000", "0x10001", "--key-file", key, "--out",
                    credential)).startsWith("wrote " + credential + ", valid until ");
            assertThat(Files.readString(Path.of(credential))).startsWith("credential osd2 ");
            assertThat(out("osd", "get", uri, "0x10000", "0x10001", "--credential", credential))
                    .isEqualTo("moving pictures");
            CommandRun.of("osd", "rm", uri, "0x10000", "0x10001", "--credential",
                    credential).fails(1, "no credential permits REMOVE");

            String all = path("all.cred");
            out("osd", "grant", uri, "0x10000", "--permit", "read,write,create,remove",
                    "--key-file", key, "--out", all);
            String object = out("osd", "put", uri, "0x10000", "--file", path("film"),
                    "--credential", all);
            assertThat(object).contains("0x10002");
            assertThat(out("osd", "ls", uri, "0x10000", "--credential", all)).contains("0x10001",
                    "0x10002");
            out("osd", "rm", uri, "0x10000", "0x10002", "--credential", all);

            out("osd", "setkey", uri, "0x10000", "--key-file", key);
            CommandRun.of("osd", "get", uri, "0x10000", "0x10001", "--credential",
                    credential).fails(1, "see its log");
            assertThat(out("osd", "get", uri, "0x10000", "0x10001", "--key-file", key))
                    .isEqualTo("moving pictures");
        }
    }

    @Test
    void shouldServeS3WithTheKey() throws Exception {
        String key = path("master.key");
        out("osd", "newkey", key);
        try (var server = new CommandRun.Serving(1, "serve", "osd:" + path("store")
                + "?create=true&security=alldata&key-file=" + key, "--portal", "127.0.0.1:0");
                var s3 = new CommandRun.Serving(1, "osd", "s3", server.uri(0), "--key-file", key,
                        "--security", "alldata", "--allow-anonymous", "--listen", "127.0.0.1:0")) {
            String line = s3.lines().getFirst();
            String url = line.substring(line.indexOf("http://"));
            assertThat(send(url + "bucket", "PUT", "")).isEmpty();
            assertThat(send(url + "bucket/key", "PUT", "moving pictures")).isEmpty();
            assertThat(send(url + "bucket/key", "GET", "")).isEqualTo("moving pictures");
        }
    }

    private static String send(String url, String method, String body) throws Exception {
        var connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
        connection.setRequestMethod(method);
        if (method.equals("PUT")) {
            connection.setDoOutput(true);
            connection.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));
        }
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void shouldRefuseOptionsThatDoNotFitTogether() {
        CommandRun.of("osd", "ls", ANY, "--key-file", "a", "--credential", "b").fails(2,
                "exclude each other");
        CommandRun.of("osd", "ls", ANY, "--security", "capkey").fails(2, "needs --key-file");
        CommandRun.of("osd", "ls", ANY, "--key-file", "a", "--security", "best").fails(2,
                "capkey, cmdrsp, alldata");
        CommandRun.of("osd", "grant", ANY, "0x10000", "--out", "x").fails(2, "--key-file");
    }

    @Test
    void shouldNotUseExposedOrMalformedFiles() throws Exception {
        Path key = folder.resolve("master.key");
        out("osd", "newkey", key.toString());
        CommandRun.of("osd", "newkey", key.toString()).fails(1, "exists already");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        CommandRun.of("osd", "ls", ANY, "--key-file", key.toString()).fails(1, "chmod 600");
        Path wrong = Files.writeString(folder.resolve("wrong"), "secret 0011\n");
        Files.setPosixFilePermissions(wrong, PosixFilePermissions.fromString("rw-------"));
        CommandRun.of("osd", "ls", ANY, "--credential", wrong.toString()).fails(1,
                "is no credential file");
    }
}
