package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a volume over iSCSI members that two gateways open, as processes with runtime directories of their own. */
class VolumeOwnerTest {
    private static final long END_SECONDS = 120;
    private static final String VOLUME = "raid1:vol";

    @TempDir
    Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private int gateways;

    /** Output and exit status of a command. */
    private record Said(int status, String text) {}

    /** A served volume, and a host of it. */
    private final class Gateway implements AutoCloseable {
        final ServingProcess process;
        final BlockDevice lun;

        Gateway(String runtime, String uri) throws IOException {
            process = new ServingProcess(folder.resolve("gateway" + gateways++ + ".txt"),
                    environment(runtime), uri, "--config", config(), "--portal", "127.0.0.1:0");
            lun = Devices.open(process.uri() + "?no-path-retry=fail");
        }

        void write(int content) throws StorageException {
            lun.write(7, MemorySegment.ofArray(new byte[512]).fill((byte) content));
            lun.flush();
        }

        byte read() throws StorageException {
            MemorySegment found = MemorySegment.ofArray(new byte[512]);
            lun.read(7, found);
            return found.get(ValueLayout.JAVA_BYTE, 0);
        }

        void signal(String name) throws Exception {
            assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .start().waitFor()).isZero();
        }

        void kill() throws Exception {
            process.kill();
            lun.close();
        }

        @Override
        public void close() throws Exception {
            lun.close();
            process.end();
        }
    }

    private String config() { return folder.resolve("lunar.toml").toString(); }

    private Map<String, String> environment(String runtime) throws IOException {
        Path directory = folder.resolve(runtime);
        if (!Files.exists(directory)) {
            Files.createDirectory(directory, PosixFilePermissions
                    .asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        return Map.of("XDG_RUNTIME_DIR", directory.toString());
    }

    private Said raid(String runtime, String... words) throws Exception {
        return run(runtime, ServingProcess.lunar(words(words)));
    }

    private String[] words(String... words) {
        var all = new ArrayList<>(List.of(words));
        all.addAll(List.of("--config", config()));
        return all.toArray(String[]::new);
    }

    private Said run(String runtime, List<String> command) throws Exception {
        Path out = Files.createTempFile(folder, "said", ".txt");
        var builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(out.toFile());
        builder.environment().putAll(environment(runtime));
        Process process = builder.start();
        boolean hasEnded = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(hasEnded).as(Files.readString(out)).isTrue();
        return new Said(process.exitValue(), Files.readString(out));
    }

    @BeforeEach
    void create() throws Exception {
        var target = new ServingProcess(folder, "file:" + folder.resolve("a") + "?size=8MiB",
                "file:" + folder.resolve("b") + "?size=8MiB", "--portal", "127.0.0.1:0");
        open.add(target::end);
        new RaidFolder(folder).raid("create", VOLUME, target.uri(),
                target.uri().replaceFirst("0$", "1"), "--assume-clean").succeeds();
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
    }

    @Test
    void shouldHaveOneOwnerWithAnyRuntimeDirectory() throws Exception {
        try (var gateway = new Gateway("A", VOLUME)) {
            gateway.write(1);
            Said status = raid("B", "raid", "status", VOLUME);
            assertThat(status.text()).contains("running in process " + gateway.process.pid());
            Said second = raid("B", "serve", VOLUME, "--portal", "127.0.0.1:0");
            assertThat(second.status()).isNotZero();
            assertThat(second.text()).contains(VOLUME + " is in use by process "
                    + gateway.process.pid() + " of this host");
            Said scrub = raid("B", "raid", "scrub", VOLUME, "--repair");
            assertThat(scrub.text()).contains("no differences");
            Said destroy = raid("B", "raid", "destroy", VOLUME);
            assertThat(destroy.status()).isNotZero();
            assertThat(destroy.text()).contains("runs in process " + gateway.process.pid());
            gateway.process.awaitErr("scrub"); // it was the gateway's
            gateway.write(2);
            assertThat(gateway.read()).isEqualTo((byte) 2);
        }
        Said status = raid("B", "raid", "status", VOLUME);
        assertThat(status.text()).contains("not running", "  clean");
        assertThat(raid("B", "raid", "destroy", VOLUME).text()).contains("2 devices released");
    }

    @Test
    void shouldRunDespiteARuntimeDirectoryOfAnotherUser() throws Exception {
        Path foreign = Files.createDirectories(folder.resolve("C/lunar"));
        Files.setPosixFilePermissions(foreign, PosixFilePermissions.fromString("rwxrwxrwx"));
        try (var gateway = new Gateway("C", VOLUME)) {
            gateway.write(8);
            assertThat(foreign).isEmptyDirectory();
            assertThat(raid("A", "raid", "status", VOLUME).text())
                    .contains("running in process " + gateway.process.pid());
        }
    }

    @Test
    void shouldHaveOneOwnerInAllMountNamespaces() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "unshare needs root");
        try (var gateway = new Gateway("A", VOLUME)) {
            for (String[] words : List.of(new String[]{"raid", "scrub", VOLUME, "--repair"},
                    new String[]{"raid", "destroy", VOLUME, "--force"},
                    new String[]{"raid", "stop", VOLUME},
                    new String[]{"serve", VOLUME, "--portal", "127.0.0.1:0"})) {
                Said said = run("A", alone(ServingProcess.lunar(words(words))));
                assertThat(said.status()).as(said.text()).isNotZero();
                assertThat(said.text()).contains("is in use by process "
                        + gateway.process.pid() + " of this host");
            }
            Said status = run("A", alone(
                    ServingProcess.lunar(words("raid", "status", VOLUME))));
            assertThat(status.text()).contains("in use by process " + gateway.process.pid(),
                    "slot 1  active");
            gateway.write(3);
            assertThat(gateway.read()).isEqualTo((byte) 3);
        }
    }

    /** The command where nothing is seen of the runtime directory of the others. */
    private List<String> alone(List<String> command) {
        var all = new ArrayList<>(List.of("unshare", "-m", "sh", "-c",
                "mount -t tmpfs none \"$0\" && chmod 700 \"$0\" && exec \"$@\"",
                folder.resolve("A").toString()));
        all.addAll(command);
        return all;
    }

    @Test
    void shouldStartAtOnceAfterAKill() throws Exception {
        var gateway = new Gateway("A", VOLUME);
        gateway.write(4);
        gateway.kill();
        try (var next = new Gateway("B", VOLUME)) {
            assertThat(next.read()).isEqualTo((byte) 4);
            next.process.awaitErr("has ended without stopping it");
            assertThat(next.process.err()).contains("has ended without stopping it")
                    .doesNotContain("waits");
        }
    }

    @Test
    void shouldNotServeStaleDataAfterTakeoverWhileStopped() throws Exception {
        var first = new Gateway("A", VOLUME);
        open.add(first::kill);
        first.write(5);
        first.signal("STOP");
        Said refused = raid("B", "serve", VOLUME, "--portal", "127.0.0.1:0");
        assertThat(refused.text()).contains("is in use by process " + first.process.pid());
        try (var second = new Gateway("B", VOLUME + "?take-over=yes")) {
            second.write(6);
            first.signal("CONT");
            assertThatThrownBy(first::read).isInstanceOf(StorageException.class);
            assertThatThrownBy(() -> first.write(9)).isInstanceOf(StorageException.class);
            assertThat(second.read()).isEqualTo((byte) 6);
            first.process.awaitErr("was taken over by"); // its lease may have run out before it saw that
            second.write(7);
            assertThat(raid("B", "raid", "scrub", VOLUME).text()).contains("no differences");
            assertThat(raid("B", "raid", "status", VOLUME, "--json").text())
                    .contains("\"state\" : \"clean\"");
        }
    }
}
