package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a {@code lunar serve} process that gets signals to terminate or to reload its file. */
class SignalTest {
    private static final long END_SECONDS = 120;

    @TempDir
    Path folder;

    @Test
    void shouldEndCleanlyOnSigtermWithASessionLoggedIn() throws Exception {
        Path image = folder.resolve("disk.img");
        Path err = folder.resolve("err.txt");
        Process process = serve(err, "file:" + image + "?size=1MiB");
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String[] words = out.readLine().split(" ");
            String uri = "iscsi://" + words[words.length - 1] + "/" + words[1] + "/0";
            var device = Devices.open(uri);
            byte[] data = new byte[4096];
            data[17] = 42;
            device.write(8, MemorySegment.ofArray(data));
            process.destroy(); // SIGTERM
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(err)).isZero();
            device.close();
        } finally {
            process.destroyForcibly();
        }
        assertThat(Files.readString(err)).doesNotContain("\tat ", "Exception");
        assertThat(Files.readAllBytes(image)[8 * 512 + 17]).isEqualTo((byte) 42);
    }

    @Test
    void shouldReadItsConfigFileAgainOnSighup() throws Exception {
        Path err = folder.resolve("err.txt");
        Path config = folder.resolve("lunar.toml");
        String first = "portals = ['127.0.0.1:0']\n"
                + "[[target]]\niqn = 'iqn.2026-11.org.example:a'\nluns = ['ram:1MiB']\n";
        Files.writeString(config, first);
        Process process = process(err, "--config", config.toString());
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String[] words = out.readLine().split(" ");
            String portal = words[words.length - 1];
            var device = Devices.open("iscsi://" + portal + "/" + words[1] + "/0");
            Files.writeString(config, first.replace("1MiB", "2MiB")
                    + "[[target]]\niqn = 'iqn.2026-11.org.example:b'\nluns = ['ram:3MiB']\n");
            hangUp(process);
            assertThat(List.of(out.readLine(), out.readLine(), out.readLine())).containsExactly(
                    "resized iqn.2026-11.org.example:a lun 0 ram:2MiB from 1MiB to 2MiB",
                    "serving iqn.2026-11.org.example:b lun 0 ram:3MiB 3MiB on " + portal,
                    "reloaded " + config);
            device.read(0, MemorySegment.ofArray(new byte[512]));
            assertThat(device.sizeBytes()).isEqualTo(2 << 20);
            Files.writeString(config, "lun = []\n");
            hangUp(process);
            for (int i = 0; i < 12_000 && !Files.readString(err).contains("not reloaded"); i++) {
                Thread.sleep(10);
            }
            assertThat(Files.readAllLines(err)).filteredOn(line -> !line.contains(" audit: "))
                    .singleElement().asString()
                    .contains(" ERROR server: configuration not reloaded: " + config
                            + ":1:1: unknown key 'lun'")
                    .endsWith("; still running the previous configuration");
            device.read(0, MemorySegment.ofArray(new byte[512]));
            device.close();
            process.destroy();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldReloadOnceItRunsIfSighupComesWhileItStarts() throws Exception {
        Path err = folder.resolve("err.txt");
        Path config = folder.resolve("lunar.toml");
        Process mkfifo = new ProcessBuilder("mkfifo", config.toString()).start();
        assertThat(mkfifo.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        String first = "portals = ['127.0.0.1:0']\n"
                + "[[target]]\niqn = 'iqn.2026-11.org.example:a'\nluns = ['ram:1MiB']\n";
        Process process = process(err, "--config", config.toString());
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            try (var writer = Files.newBufferedWriter(config)) { // opens when the server reads it
                hangUp(process);
                Thread.sleep(200); // the signal's handler may run late: then it is an ordinary reload
                writer.write(first);
            }
            String served = out.readLine();
            assertThat(served).as(Files.readString(err))
                    .startsWith("serving iqn.2026-11.org.example:a lun 0 ram:1MiB");
            Files.writeString(config, first.replace("1MiB", "2MiB"));
            assertThat(out.readLine()).startsWith("resized iqn.2026-11.org.example:a lun 0");
            assertThat(out.readLine()).isEqualTo("reloaded " + config);
            process.destroy();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(err)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldGoOnAtSighupWithoutAConfigFile() throws Exception {
        Path err = folder.resolve("err.txt");
        Process process = serve(err, "ram:1MiB");
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).startsWith("serving ");
            hangUp(process);
            for (int i = 0; i < 12_000 && !Files.readString(err).contains("SIGHUP"); i++) {
                Thread.sleep(10);
            }
            assertThat(Files.readAllLines(err)).anySatisfy(line -> assertThat(line)
                    .endsWith(" WARN  server: SIGHUP is ignored: there is no config file to"
                            + " reload; name one with --config FILE"));
            assertThat(process.isAlive()).isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    private static void hangUp(Process process) throws Exception {
        Process kill = new ProcessBuilder("kill", "-HUP", Long.toString(process.pid())).start();
        assertThat(kill.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    private static Process serve(Path err, String uri) throws IOException {
        return process(err, uri, "--portal", "127.0.0.1:0");
    }

    private static Process process(Path err, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of("env", "--default-signal=HUP", // where nohup started the build
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main", "serve"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(err.toFile()).start();
    }
}
