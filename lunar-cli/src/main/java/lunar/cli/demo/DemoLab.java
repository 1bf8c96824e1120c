package lunar.cli.demo;

import lunar.cli.command.Console;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.cli.config.Portal;
import lunar.cli.serve.Serving;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;

/** Resources shared by the demo's steps: a directory, a secret, a server with two targets, an initiator. */
final class DemoLab implements AutoCloseable {
    /** A target that everybody may use: LUN 0 of 512-byte blocks, LUN 1 of 4096, LUN 2 a file. */
    static final String OPEN = "iqn.2026-11.org.lunar:demo.open";
    /** A target that wants CHAP, with one LUN. */
    static final String GUARDED = "iqn.2026-11.org.lunar:demo.guarded";
    static final String USER = "demo";
    /** Size of each member of the volume. */
    static final String MEMBER_SIZE = "32MiB";

    private static final List<ServerPlan.Listen> LOOPBACK = List
            .of(ServerPlan.Listen.on("127.0.0.1", 0));

    private static final int SECRET_BYTES = 12;

    private final Path folder;
    private final Console console;
    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:demo.host");
    private final String secret;
    private final Thread atSignal = new Thread(this::removeFiles, "lunar-demo-cleaner");
    private Optional<StorageServer> server = Optional.empty();

    DemoLab(Console console) throws IOException {
        this.console = console;
        folder = Files.createTempDirectory("lunar-demo");
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        secret = HexFormat.of().formatHex(bytes);
        Runtime.getRuntime().addShutdownHook(atSignal);
    }

    Initiator initiator() { return initiator; }

    String secret() { return secret; }

    /** A file in the demo's own folder. */
    Path file(String name) { return folder.resolve(name); }

    StorageServer start() throws IOException, Failure {
        Path secretFile = Files.createFile(file("secret.txt"), PosixFilePermissions
                .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(secretFile, secret + "\n");
        var open = ServerPlan.Target.of(OPEN, List.of("ram:256MiB", "ram:64MiB?block-size=4k",
                "file:" + file("lun2.img") + "?size=64MiB")).withAlias("open to all");
        var guarded = ServerPlan.Target.of(GUARDED, List.of("ram:16MiB"))
                .withAlias("with a secret")
                .withChap(Optional.of(USER + ":@" + secretFile), Optional.empty());
        var plan = ServerPlan.of(LOOPBACK, List.of(open, guarded));
        var started = Serving.start(plan, console);
        server = Optional.of(started);
        return started;
    }

    /** A target of its own for a member of a volume. */
    StorageServer member(int number) throws IOException, Failure {
        var target = ServerPlan.Target.of("iqn.2026-11.org.lunar:demo.member" + number,
                List.of("ram:" + MEMBER_SIZE));
        return Serving.start(ServerPlan.of(LOOPBACK, List.of(target)), console);
    }

    StorageServer server() { return server.orElseThrow(); }

    /** HOST:PORT of the server. */
    String portal() {
        return Portal.text(server().portals().getFirst());
    }

    /** The URI of a LUN of the open target. */
    String uri(int lun) {
        return "iscsi://" + portal() + "/" + OPEN + "/" + lun;
    }

    @Override
    public void close() throws StorageException {
        initiator.close();
        try {
            if (server.isPresent()) {
                server.get().close();
            }
        } finally {
            Runtime.getRuntime().removeShutdownHook(atSignal);
            removeFiles();
        }
    }

    private void removeFiles() {
        var paths = new ArrayList<Path>();
        try (var all = Files.walk(folder)) {
            all.forEach(paths::addFirst);
            for (Path path : paths) {
                Files.delete(path);
            }
        } catch (IOException e) {
            console.remark("cannot remove " + folder + ": " + Errors.message(e));
        }
    }
}
