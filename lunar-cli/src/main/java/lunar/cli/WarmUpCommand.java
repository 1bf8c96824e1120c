package lunar.cli;

import lunar.admin.client.AdminClient;
import lunar.cli.config.TargetTables;

import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;

/**
 * {@code lunar warm-up}: exercises the classes of the other commands, so that the JVM that trains the ahead-of-time
 * cache (JEP 514) loads them. Uses only memory, the loopback and temporary files, and prints nothing.
 */
@Command(name = "warm-up", hidden = true, description = "Train the ahead-of-time cache.")
final class WarmUpCommand extends DeviceCommand {
    private static final Pattern PORTAL = Pattern.compile("on (127\\.0\\.0\\.1:\\d+)");
    private static final long START_MS = 5_000;
    private static final long END_MS = 60_000;
    private static final long POLL_MS = 10;

    WarmUpCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        Path folder = Files.createTempDirectory("lunar");
        Path admin = folder.resolve("admin.sock");
        var said = new ByteArrayOutputStream();
        var server = Thread.ofPlatform().name("lunar-warm-up").daemon().start(() -> run(
                new PrintStream(said, true, StandardCharsets.UTF_8), "serve", "ram:1MiB",
                "--portal", "127.0.0.1:0", "--admin", admin.toString()));
        var nowhere = new PrintStream(OutputStream.nullOutputStream(), false,
                StandardCharsets.UTF_8);
        for (String line : List.of("--help", "--version", "serve --help", "copy --help",
                "info ram:1MiB", "info ram:1MiB --json", "info nothing", "--nothing",
                "copy ram:1MiB ram:1MiB --verify",
                "bench ram:1MiB --rw randrw --time 10ms --ramp 1ms")) {
            run(nowhere, line.split(" "));
        }
        readConfig(nowhere);
        String portal = portal(said);
        if (!portal.isEmpty()) {
            String uri = "iscsi://" + portal + "/" + TargetTables.DEFAULT_IQN + "/0";
            run(nowhere, "discover", portal);
            run(nowhere, "info", uri);
            run(nowhere, "copy", "ram:1MiB", uri, "--verify");
            run(nowhere, "bench", uri, "--rw", "randread", "--time", "100ms", "--ramp", "1ms");
            for (String command : List.of("status", "sessions", "luns")) {
                run(nowhere, command, "--socket", admin.toString());
                run(nowhere, command, "--json", "--socket", admin.toString());
            }
            metrics(admin);
        }
        server.interrupt();
        server.join(END_MS);
        Files.deleteIfExists(folder.resolve("admin.sock.lock"));
        Files.deleteIfExists(admin);
        Files.deleteIfExists(folder);
        return 0;
    }

    private static void metrics(Path admin) {
        try {
            String _ = AdminClient.of(admin).text("/metrics");
        } catch (IOException e) { // the start of a server that nobody waits for
            System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, "warm-up", e);
        }
    }

    private static void readConfig(PrintStream out) throws IOException {
        Path file = Files.createTempFile("lunar", ".toml");
        try {
            Files.writeString(file, "[[target]]\niqn = 'iqn.2026-11.org.example:a'\nluns = ["
                    + "{ uri = 'ram:1MiB', thick = true }]\n[limits]\nsessions = 10\n");
            run(out, "config", "check", file.toString());
        } finally {
            Files.delete(file);
        }
    }

    private static void run(PrintStream out, String... args) {
        Main.run(args, out, new PrintStream(OutputStream.nullOutputStream(), false,
                StandardCharsets.UTF_8));
    }

    /** Returns the portal of the server, or an empty string if it did not start. */
    private static String portal(ByteArrayOutputStream said) throws InterruptedException {
        for (long waitedMs = 0; waitedMs < START_MS; waitedMs += POLL_MS) {
            Matcher matcher = PORTAL.matcher(said.toString(StandardCharsets.UTF_8));
            if (matcher.find()) {
                return matcher.group(1);
            }
            Thread.sleep(POLL_MS);
        }
        return "";
    }
}
