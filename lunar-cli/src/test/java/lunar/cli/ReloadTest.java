package lunar.cli;

import lunar.cli.command.Console;
import lunar.cli.command.Failure;
import lunar.cli.config.ConfigFile;
import lunar.cli.config.Digest;
import lunar.cli.config.Portal;
import lunar.cli.config.VolumeUris;
import lunar.cli.serve.Serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.initiator.Initiator;
import lunar.iscsi.LoginException;
import lunar.scsi.Lun;
import lunar.server.ServedUnit;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import lunar.testkit.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a server whose config file changes, and the effects on sessions. */
class ReloadTest {
    private static final String A = "iqn.2026-11.org.example:a";
    private static final String B = "iqn.2026-11.org.example:b";
    private static final String HOST = "iqn.2026-11.org.example:host";

    @TempDir
    Path folder;

    private final StringWriter remarks = new StringWriter();
    private final Console console = new Console(new PrintWriter(new StringWriter()),
            new PrintWriter(remarks, true), false);
    private final Initiator initiator = Initiator.create(HOST);
    private StorageServer server;

    @AfterEach
    void close() throws IOException {
        initiator.close();
        if (server != null) {
            server.close();
        }
    }

    private ServerPlan plan(String text) throws Exception {
        Path file = Files.writeString(folder.resolve("lunar.toml"), text.replace("FOLDER",
                folder.toString()));
        ConfigFile config = ConfigFile.read(file);
        return new ServerPlan(config.portals().isEmpty()
                ? List.of(ServerPlan.Listen.on("127.0.0.1", 0))
                : config.portals(), config.targets(), config.allowAnonymous(),
                Digest.ALLOW.choice(), Digest.ALLOW.choice(), config.state(), config.isns(),
                config.discoveryChap(), config.chapAlgorithms(), config.limits(),
                VolumeUris.usual().opener(), true);
    }

    private void start(String text) throws Exception {
        server = Serving.start(plan(text), console);
    }

    private List<String> reload(String text) throws Exception {
        return Serving.reload(server, plan(text));
    }

    private String portal(int index) { return Portal.text(server.portals().get(index)); }

    private lunar.initiator.Session login(String iqn) throws IOException {
        return initiator.login("iscsi://" + portal(0) + "/" + iqn);
    }

    /** Waits until no more sessions are left than these: a reload does not wait for the end of those that it drops. */
    private void awaitSessions(int count) throws InterruptedException {
        for (int i = 0; i < 12_000 && server.sessionCount() > count; i++) {
            Thread.sleep(10);
        }
        assertThat(server.sessionCount()).isEqualTo(count);
    }

    private static void write(BlockDevice device, int value) throws IOException {
        byte[] bytes = new byte[4096];
        bytes[5] = (byte) value;
        device.write(0, MemorySegment.ofArray(bytes));
    }

    private static int read(BlockDevice device) throws IOException {
        byte[] bytes = new byte[4096];
        device.read(0, MemorySegment.ofArray(bytes));
        return bytes[5];
    }

    private static String target(String iqn, String luns) {
        return "[[target]]\niqn = '" + iqn + "'\nluns = " + luns + "\n";
    }

    @Test
    void shouldAddAndRemoveTargetsAndLunsWithoutDisturbingSessions() throws Exception {
        start(target(A, "['ram:1MiB', 'ram:2MiB']"));
        var session = login(A);
        BlockDevice first = session.open(Lun.of(0));
        write(first, 7);
        String on = " on " + portal(0);
        assertThat(reload(target(A, "['ram:1MiB', {lun = 3, uri = 'ram:3MiB'}]")
                + target(B, "['file:FOLDER/b.img?size=1MiB']"))).containsExactly(
                        "no longer serving " + A + " lun 1 ram:2MiB",
                        "serving " + A + " lun 3 ram:3MiB 3MiB" + on,
                        "serving " + B + " lun 0 file:" + folder + "/b.img?size=1MiB 1MiB" + on);
        assertThat(read(first)).isEqualTo(7);
        assertThat(session.open(Lun.of(3)).sizeBytes()).isEqualTo(3 << 20);
        assertThatThrownBy(() -> session.open(Lun.of(1))).isInstanceOf(DeviceGoneException.class);
        var other = login(B);
        write(other.open(Lun.ZERO), 9);
        assertThat(reload(target(A, "['ram:1MiB']"))).hasSize(2);
        assertThat(read(first)).isEqualTo(7);
        assertThatThrownBy(() -> login(B)).isInstanceOf(LoginException.class)
                .hasMessageContaining("no such target");
        awaitSessions(1);
        // The device has been closed, flushed, and can be opened again.
        assertThat(reload(target(A, "['ram:1MiB', 'file:FOLDER/b.img']"))).hasSize(1);
        assertThat(read(session.open(Lun.of(1)))).isEqualTo(9);
    }

    @Test
    void shouldChangeNothingOnAnyError() throws Exception {
        start(target(A, "['ram:1MiB']"));
        BlockDevice device = login(A).open(Lun.ZERO);
        write(device, 3);
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String group = "[[portal-group]]\ntag = 2\nportals = ['127.0.0.1:"
                    + taken.getLocalPort() + "']\n";
            String good = target(A, "['file:FOLDER/new.img?size=1MiB']");
            assertThatThrownBy(() -> reload(group + good)).isInstanceOf(Failure.class)
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("in use");
            for (String bad : List.of(good + target(B, "['file:FOLDER/nothing.img']"),
                    good + target(B, "['nothing:1']"), good + target("disk", "['ram:1MiB']"),
                    good + "chap = 'me:@FOLDER/nothing'\n",
                    good + "[[target.initiator]]\nname = '*'\nchap = 'me:@FOLDER/nothing'\n")) {
                assertThatThrownBy(() -> reload(bad)).as(bad)
                        .isInstanceOfAny(Failure.class, IllegalArgumentException.class);
            }
        }
        assertThat(server.units()).extracting(ServedUnit::uri)
                .containsExactly("ram:1MiB");
        assertThat(read(device)).isEqualTo(3);
        // What had been opened without result was let go of.
        assertThat(reload(target(A, "['ram:1MiB', 'file:FOLDER/new.img']"))).hasSize(1);
        assertThat(read(device)).isEqualTo(3);
    }

    @Test
    void shouldNotBeReachedByOthersWithAShortSecret() throws Exception {
        Files.writeString(folder.resolve("short"), "eleven byte");
        String target = target(A, "['ram:1MiB']") + "chap = 'me:@FOLDER/short'\n";
        start(target);
        assertThatThrownBy(() -> reload("portals = ['0.0.0.0:0']\n" + target))
                .isInstanceOf(Failure.class).hasMessageContaining("12 bytes");
        assertThat(server.portals()).hasSize(1)
                .allMatch(portal -> portal.getAddress().isLoopbackAddress());
    }

    @Test
    void shouldEndTheSessionsOfInitiatorsThatLoseAccess() throws Exception {
        String open = target(A, "['ram:1MiB', 'ram:1MiB']");
        start(open);
        var session = login(A);
        BlockDevice first = session.open(Lun.of(0));
        BlockDevice second = session.open(Lun.of(1));
        write(second, 4);
        String entry = open + "[[target.initiator]]\nname = '" + HOST + "'\n";
        assertThat(reload(entry + "luns = { 0 = 1 }\nread-only = true\n")).isEmpty();
        assertThat(server.sessionCount()).isEqualTo(1);
        assertThatThrownBy(() -> read(second)).isInstanceOf(DeviceGoneException.class);
        assertThat(session.open(Lun.of(0)).readOnly()).isTrue();
        first.close();
        assertThat(reload(open + "[[target.initiator]]\nname = '" + HOST + "2'\n")).isEmpty();
        awaitSessions(0);
        assertThatThrownBy(() -> login(A)).isInstanceOf(LoginException.class);
    }

    @Test
    void shouldTakeNewSecretsForLaterLogins() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "a secret of some length");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        String file = target(A, "['ram:1MiB']") + "chap = 'me:@" + secret + "'\n";
        start(file);
        String uri = "iscsi://me@" + portal(0) + "/" + A + "?secret-file=";
        Path old = Files.copy(secret, folder.resolve("old"));
        BlockDevice device = initiator.login(uri + old).open(Lun.ZERO);
        Files.writeString(secret, "another secret of length");
        assertThat(reload(file)).isEmpty();
        write(device, 1);
        assertThat(read(device)).isEqualTo(1);
        try (var late = Initiator.create(HOST + "2")) {
            assertThatThrownBy(() -> late.login(uri + old)).hasMessageContaining("CHAP");
            late.login(uri + secret).close();
        }
    }

    @Test
    void shouldRequireTheDiscoverySecret() throws Exception {
        secret("one");
        secret("two");
        String everywhere = "portals = ['0.0.0.0:0']\n";
        String targets = target(A, "['ram:1MiB']") + "chap = 'me:@FOLDER/one'\n"
                + target(B, "['ram:1MiB']") + "chap = 'me:@FOLDER/two'\n";
        assertThatThrownBy(() -> start(everywhere + targets)).isInstanceOf(Failure.class)
                .hasMessageContaining("CHAP user me has several secrets")
                .hasMessageContaining("discovery-chap");
        start(everywhere + "discovery-chap = 'host:@FOLDER/two'\n" + targets);
        String portal = "127.0.0.1:" + server.portals().getFirst().getPort();
        CommandRun.of("discover", portal).fails(1, "CHAP");
        CommandRun.of("discover", portal, "--chap", "me:@" + folder.resolve("two")).fails(1,
                "CHAP");
        assertThat(CommandRun.of("discover", portal, "--chap", "host:@" + folder.resolve("two"))
                .succeeds().out()).contains(A, B);
    }

    private Path secret(String name) throws IOException {
        Path file = Files.writeString(folder.resolve(name), name + " is a secret of some length");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    @Test
    void shouldGrowAndDetectExternalResizes() throws Exception {
        start(target(A, "['ram:1MiB', 'file:FOLDER/disk.img?size=1MiB']"));
        var session = login(A);
        BlockDevice memory = session.open(Lun.of(0));
        BlockDevice disk = session.open(Lun.of(1));
        write(memory, 5);
        write(disk, 6);
        assertThat(reload(target(A, "['ram:2MiB', 'file:FOLDER/disk.img?size=3MiB']")))
                .containsExactly(
                        "resized " + A + " lun 0 ram:2MiB from 1MiB to 2MiB",
                        "resized " + A + " lun 1 file:" + folder
                                + "/disk.img?size=3MiB from 1MiB to 3MiB");
        assertThat(read(memory)).isEqualTo(5);
        assertThat(read(disk)).isEqualTo(6);
        assertThat(memory.sizeBytes()).isEqualTo(2 << 20);
        assertThat(disk.sizeBytes()).isEqualTo(3 << 20);
        assertThat(Files.size(folder.resolve("disk.img"))).isEqualTo(3 << 20);
        write(disk, 8);
        try (var file = new RandomAccessFile(folder.resolve("disk.img").toFile(), "rw")) {
            file.setLength(5 << 20);
        }
        assertThat(reload(target(A, "['ram:2MiB', 'file:FOLDER/disk.img?size=3MiB']")))
                .containsExactly("resized " + A + " lun 1 file:" + folder
                        + "/disk.img?size=3MiB from 3MiB to 5MiB");
        assertThat(read(disk)).isEqualTo(8);
        assertThat(disk.sizeBytes()).isEqualTo(5 << 20);
        assertThatThrownBy(() -> reload(target(A, "['ram:1MiB']")))
                .hasMessageContaining("cannot be shrunk");
        assertThatThrownBy(
                () -> reload(target(A, "['ram:2MiB', 'verify:file:FOLDER/disk.img']")))
                .hasMessageContaining("other filters or options");
    }

    @Test
    void shouldChangePortalsUnderSessionsThatContinue() throws Exception {
        List<Integer> free = FreePorts.several(2); // nobody else takes one while it is closed
        String first = "portals = ['127.0.0.1:" + free.get(0) + "']\n";
        String group = "[[portal-group]]\ntag = 2\nportals = ['127.0.0.1:" + free.get(1)
                + "', '[::1]:0']\n";
        String a = target(A, "['ram:1MiB']");
        String b = target(B, "['ram:1MiB']") + "groups = [2]\n";
        start(first + group + a + b);
        BlockDevice kept = login(A).open(Lun.ZERO);
        write(kept, 2);
        String second = "iscsi://" + portal(1) + "/" + A;
        assertThat(initiator.login(second).open(Lun.ZERO).sizeBytes()).isEqualTo(1 << 20);
        initiator.login("iscsi://" + portal(2) + "/" + B).close();
        List<String> lines = reload(first + a);
        assertThat(lines).hasSize(3).filteredOn(line -> line.startsWith("no longer listening on"))
                .hasSize(2);
        assertThat(read(kept)).isEqualTo(2);
        assertThatThrownBy(() -> initiator.login(second)).isInstanceOf(IOException.class);
        awaitSessions(1); // those by a portal that is gone were asked to go
        assertThat(reload(first + group + a + b)).hasSize(3);
        initiator.login("iscsi://" + portal(1) + "/" + B).close();
        // Every address of the machine has the port of one of them, so that one has to go first.
        String all = "allow-anonymous = true\nportals = ['0.0.0.0:" + server.portals().get(0)
                .getPort() + "']\n";
        assertThatThrownBy(() -> reload(all + group + target("x", "[]")))
                .isInstanceOf(Failure.class);
        lines = reload(all + a);
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("listening on "));
        login(A).close();
    }

    @Test
    void shouldServeOneDeviceAtSeveralTargetsAsOneUnit() throws Exception {
        start(target(A, "['file:FOLDER/disk.img?size=1MiB']")
                + target(B, "[{lun = 4, uri = 'file:FOLDER/disk.img?size=1MiB'}]"));
        write(login(A).open(Lun.ZERO), 6);
        assertThat(read(login(B).open(Lun.of(4)))).isEqualTo(6);
        assertThatThrownBy(() -> reload(target(A, "['file:FOLDER/disk.img']")
                + target(B, "[{uri = 'file:FOLDER/disk.img', read-only = true}]")))
                .hasMessageContaining("must be configured identically");
    }
}
