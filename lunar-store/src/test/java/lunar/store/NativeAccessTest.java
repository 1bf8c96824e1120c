package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what the log says about native access, in processes that may have none. */
class NativeAccessTest {
    private static final String LINE = "files and disks are used without io_uring, UNMAP,"
            + " labels and reports of holes: start Java with --enable-native-access=ALL-UNNAMED";

    @TempDir
    Path folder;

    /** Opens devices one after another and writes to them. */
    static final class Opener {
        public static void main(String[] uris) throws Exception {
            for (String uri : uris) {
                try (BlockDevice device = Devices.open(uri)) {
                    device.writeZeroes(0, 8);
                }
            }
        }
    }

    private String log(List<String> options, String... uris) throws Exception {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(Opener.class.getName());
        command.addAll(List.of(uris));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
            return output;
        } finally {
            process.destroyForcibly();
        }
    }

    private String file(String name) { return "file:" + folder.resolve(name) + "?size=1MiB"; }

    @Test
    void shouldSayOnceThatNativeAccessIsMissing() throws Exception {
        assumeTrue(LinuxFile.isAvailable(), "only Linux has these calls");
        assertThat(log(List.of(), "ram:1MiB", file("a"), file("b") + "&io=direct"))
                .containsPattern("INFO.* " + LINE).containsOnlyOnce("native-access");
    }

    @Test
    void shouldSayNothingWhereItIsNotNeeded() throws Exception {
        assertThat(log(List.of(), "ram:1MiB")).isEmpty();
        assertThat(log(List.of("--enable-native-access=ALL-UNNAMED"), file("a")))
                .doesNotContain("native-access");
    }
}
