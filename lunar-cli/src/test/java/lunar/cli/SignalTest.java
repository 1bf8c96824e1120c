package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code lunar serve} as a process of its own, which is told to end. */
class SignalTest {
    private static final long END_SECONDS = 60;

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

    private static Process serve(Path err, String uri) throws IOException {
        return new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), "lunar.cli.Main", "serve", uri, "--portal",
                "127.0.0.1:0")).redirectError(err.toFile()).start();
    }
}
