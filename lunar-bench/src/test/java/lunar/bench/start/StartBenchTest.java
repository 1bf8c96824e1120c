package lunar.bench.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lunar.bench.harness.BenchException;
import lunar.initiator.Initiator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class StartBenchTest {
    @TempDir
    Path directory;

    @Test
    void shouldCompareTheMedianOfTheImageWithTheGoals() {
        String table = StartBench.table(
                Map.of("image", List.of(280.0, 900.0, 300.0), "checkout", List.of(1000.0)),
                Map.of("image", List.of(119.0, 120.6, 121.0))).plain();
        assertThat(table.lines()).anyMatch(
                line -> line.matches("image +start to login, ms +300 \\(280 to 900\\)"
                        + " +at most 300 +yes"))
                .anyMatch(line -> line.matches("image +resident when idle, MB"
                        + " +121 \\(119 to 121\\) +at most 120 +no"))
                .anyMatch(line -> line.matches("checkout +start to login, ms"
                        + " +1000 \\(1000 to 1000\\) *"));
    }

    @Test
    @Timeout(180)
    void shouldNotWaitForAServerThatHasEnded() {
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:test")) {
            assertThatThrownBy(
                    () -> StartedServer.start(Path.of("/bin/false"), directory, initiator))
                    .isInstanceOf(BenchException.class)
                    .hasMessage("a server accepts no login, see "
                            + directory.resolve("start.log"));
        }
    }
}
