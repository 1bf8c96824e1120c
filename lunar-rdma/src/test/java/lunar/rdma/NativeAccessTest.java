package lunar.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests what a process without native access says. */
class NativeAccessTest {
    private static final String MISSING = "native access is not enabled: start Java with"
            + " --enable-native-access=ALL-UNNAMED";

    /** Lists the providers twice. */
    static final class Lister {
        public static void main(String[] args) {
            for (int i = 0; i < 2; i++) {
                Rdma.providers().forEach(provider -> System.out.println(provider.name() + ": "
                        + provider.unavailable().orElse("available")));
            }
        }
    }

    @Test
    void shouldSayWhichOptionIsMissing() throws Exception {
        Process process = new ProcessBuilder(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp",
                        System.getProperty("java.class.path"), Lister.class.getName()))
                .redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
            assertThat(output).containsPattern("INFO.* RDMA is not available: " + MISSING)
                    .containsOnlyOnce("RDMA is not available")
                    .contains("libfabric: " + MISSING).doesNotContain("WARNING");
        } finally {
            process.destroyForcibly();
        }
    }
}
