package lunar.cli;

import lunar.cli.command.Console;
import lunar.cli.config.ConfigFile;
import lunar.cli.config.Digest;
import lunar.cli.config.Portal;
import lunar.cli.config.VolumeUris;
import lunar.cli.serve.Serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lunar.initiator.Initiator;
import lunar.scsi.Lun;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a server starts from each example in {@code config/}, with the configuration that the example describes.
 */
class ExampleConfigTest {
    /** Where the examples listen; documentation addresses (RFC 5737) that no machine has. */
    private static final Pattern LISTEN = Pattern
            .compile("\"(192\\.0\\.2\\.1\\d|127\\.0\\.0\\.1):3260\"");
    private static final Pattern SECRET = Pattern.compile("@/etc/lunar/(\\w+)\\.secret");
    private static final Path EXAMPLES = examples();

    @TempDir
    Path folder;

    private static Path examples() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.exists(here.resolve("config").resolve("simple.toml"))) {
            here = here.getParent();
        }
        return here.resolve("config");
    }

    static Stream<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(EXAMPLES)) {
            return all.filter(file -> file.toString().endsWith(".toml")).sorted().toList().stream();
        }
    }

    /** The example with its files in a folder of the test, and with free ports of this machine. */
    private StorageServer serve(Path example) throws Exception {
        String text = Files.readString(example);
        for (Matcher secret = SECRET.matcher(text); secret.find();) {
            Path file = Files.writeString(folder.resolve(secret.group(1) + ".secret"),
                    secret.group(1) + " has a long secret");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
        ConfigFile.read(example);
        text = text.replace("/etc/lunar/", folder + "/").replace("/var/lib/lunar/", folder + "/")
                .replace("file:disk.img", "file:" + folder + "/disk.img")
                .replace("moved = \"192.0.2.10:3260\"", "moved = \"203.0.113.1:3260\"");
        ConfigFile config = ConfigFile.read(Files.writeString(folder.resolve("lunar.toml"),
                LISTEN.matcher(text).replaceAll("\"127.0.0.1:0\"")));
        var remarks = new StringWriter();
        var running = Serving.start(
                new ServerPlan(config.portals(), config.targets(), config.allowAnonymous(),
                        Digest.ALLOW.choice(), Digest.ALLOW.choice(), config.state(),
                        config.isns(), config.discoveryChap(), config.chapAlgorithms(),
                        config.limits(), VolumeUris.usual().opener(), true),
                new Console(new PrintWriter(remarks, true), new PrintWriter(remarks, true),
                        false));
        assertThat(remarks.toString()).isEmpty();
        return running;
    }

    @ParameterizedTest
    @MethodSource("files")
    void shouldStartAServerFromEveryExample(Path example) throws Exception {
        try (StorageServer running = serve(example)) {
            assertThat(running.units()).isNotEmpty();
        }
    }

    @Test
    void shouldServeTheDisksOfTheSharedExample() throws Exception {
        try (StorageServer running = serve(EXAMPLES.resolve("shared.toml"))) {
            String url = Portal.text(running.portals().getFirst())
                    + "/iqn.2026-11.org.example:boot?secret-file=" + folder.resolve("boot.secret");
            for (String host : List.of("web1", "web2", "other")) {
                try (var initiator = Initiator.create("iqn.2026-11.org.example:" + host);
                        var session = initiator.login("iscsi://boot@" + url)) {
                    assertThat(session.open(Lun.of(1)).readOnly()).as(host)
                            .isEqualTo(host.equals("other"));
                    assertThat(session.luns()).as(host).hasSize(host.equals("other") ? 1 : 2);
                }
            }
        }
    }
}
