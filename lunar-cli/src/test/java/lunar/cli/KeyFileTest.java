package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import lunar.cli.CommandRun.Serving;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no key is created over existing data, and that a wrong key is rejected. */
class KeyFileTest {
    @TempDir
    Path folder;

    private String uri(String key, String options) {
        return "encrypt=" + folder.resolve(key) + ":file:" + folder.resolve("disk.img") + options;
    }

    private CommandRun create(String name) {
        return CommandRun.of("key", "create", folder.resolve(name).toString());
    }

    @Test
    void shouldNotMakeAKeyUnlessItIsToldTo() throws Exception {
        assertThat(ServingProcess.refused(uri("key", "?size=1MiB"), "--portal", "127.0.0.1:0"))
                .contains("does not exist", "lunar key create");
        assertThat(folder.resolve("key")).doesNotExist();
        var server = new ServingProcess(folder, uri("key,create-key=yes", "?size=1MiB"), "--portal",
                "127.0.0.1:0");
        server.end();
        String made = Files.readString(folder.resolve("key"));
        assertThat(made.strip()).hasSize(128);
        Files.move(folder.resolve("key"), folder.resolve("elsewhere"));
        assertThat(ServingProcess.refused(uri("key,create-key=yes", ""), "--portal",
                "127.0.0.1:0")).contains("is already encrypted");
        assertThat(folder.resolve("key")).doesNotExist();
    }

    @Test
    void shouldCreateAKeyReadableByItsOwnerOnlyAndNeverOverwriteIt() throws Exception {
        assertThat(create("key").succeeds().out()).contains("keep a copy");
        Path key = folder.resolve("key");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                .isEqualTo("rw-------");
        String made = Files.readString(key);
        create("key").fails(1, "already exists");
        assertThat(Files.readString(key)).isEqualTo(made);
        CommandRun.of("info", uri("key", "?size=1MiB")).succeeds();
    }

    @Test
    void shouldRejectAWrongKey() {
        create("right").succeeds();
        create("wrong").succeeds();
        CommandRun.of("info", uri("right", "?size=1MiB")).succeeds();
        CommandRun.of("info", uri("wrong", "")).fails(1, "wrong", "is not the key of");
        CommandRun.of("info", uri("right", "")).succeeds();
        CommandRun.of("info", uri("wrong,check=adopt", "")).succeeds();
        CommandRun.of("info", uri("right", "")).fails(1, "is not the key of");
    }

    @Test
    void shouldRejectAWrongKeyOfADeviceWithoutLabels() throws Exception {
        create("right").succeeds();
        create("wrong").succeeds();
        Path array = Files.createFile(folder.resolve("array.img"));
        String state = folder.resolve("state").toString();
        try (var lun = new Serving(1, "serve", "file:" + array + "?size=1MiB", "--portal",
                "127.0.0.1:0")) {
            String gateway = ":" + lun.uri(0);
            var right = new ServingProcess(folder, "encrypt=" + folder.resolve("right") + gateway,
                    "--portal", "127.0.0.1:0", "--state", state);
            right.end();
            assertThat(ServingProcess.refused("encrypt=" + folder.resolve("wrong") + gateway,
                    "--portal", "127.0.0.1:0", "--state", state)).contains("is not the key of");
        }
    }

    @Test
    void shouldRejectAKeyThatOthersCanRead() throws Exception {
        create("key").succeeds();
        for (String mode : new String[]{"rw-r-----", "rw-r--r--", "rw--w----"}) {
            Files.setPosixFilePermissions(folder.resolve("key"),
                    PosixFilePermissions.fromString(mode));
            CommandRun.of("info", uri("key", "?size=1MiB")).fails(1, "key file", "other users",
                    "chmod 600");
        }
    }

    @Test
    void shouldRejectSecretsThatOthersCanWriteAndReportThoseTheyCanRead() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "a secret of some length");
        String[] serve = {"serve", "ram:1MiB", "--portal", "127.0.0.1:0", "--chap",
                "me:@" + secret};
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw--w----"));
        CommandRun.of(serve).fails(1, "secret file", "can be written by other users");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        try (var serving = new Serving(1, serve)) {
            String uri = serving.uri(0).replace("//", "//me@") + "?secret-file=" + secret;
            CommandRun.of("info", uri).succeeds();
            Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-rw----"));
            CommandRun.of("info", uri).fails(1, "can be written by other users");
        }
    }

    @Test
    void shouldRejectAKeyOfAnotherUser() throws Exception {
        assumeTrue(Files.getAttribute(folder, "unix:uid").equals(0),
                "only root can give files away");
        create("key").succeeds();
        Files.setAttribute(folder.resolve("key"), "unix:uid", 65534);
        CommandRun.of("info", uri("key", "?size=1MiB")).fails(1, "belongs to another user");
    }
}
