package lunar.bench.paths;

import lunar.bench.compare.Agenda;
import lunar.bench.load.Measurement;
import lunar.bench.harness.Pair;
import lunar.bench.harness.Results;
import lunar.bench.harness.Settings;
import lunar.bench.harness.Subject;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PathsTest {
    private static final List<IoPath> PATHS = List.of(
            new IoPath("one", false, "io=buffered", List.of()),
            new IoPath("theirs", true, "", List.of()),
            new IoPath("two", false, "io=direct", List.of()),
            new IoPath("other", false, "", List.of("--verbose")),
            new IoPath("theirs direct", true, "direct", List.of()));

    @TempDir
    Path folder;

    @Test
    void shouldKeepLunNumbersOfTheirServers() {
        assertThat(Paths.subjects(PATHS).values()).containsExactly(
                new Subject("one", "lunar", 0), new Subject("theirs", "tgtd", 1),
                new Subject("two", "lunar", 1), new Subject("other", "lunar --verbose", 0),
                new Subject("theirs direct", "tgtd", 2));
        assertThat(PATHS.getFirst().uri(Path.of("/disk"))).isEqualTo("file:/disk?io=buffered");
        assertThat(PATHS.get(3).uri(Path.of("/disk"))).isEqualTo("file:/disk");
    }

    @Test
    void shouldDrawEachPathOverTheSizes() throws Exception {
        Map<IoPath, Subject> subjects = Paths.subjects(PATHS);
        Agenda agenda = Paths.agenda(subjects, 8);
        var measured = new ArrayList<Measurement>();
        for (int round = 1; round <= 2; round++) {
            for (var entry : agenda.entries()) {
                for (Pair pair : entry.pairs()) {
                    measured.add(new Measurement(round, entry.work().name(), pair.label(), 1000,
                            entry.work().requestBytes() / 1e3, 1, 1, 1, 1, 7 * round, 1, 0, 0));
                }
            }
        }
        var report = new PathsReport(new Results(Settings.parse("--rounds=2"), Map.of()), 8,
                agenda, List.copyOf(subjects.values()), measured);
        report.write(folder);

        assertThat(agenda.entries()).hasSize(10);
        assertThat(report.markdown()).contains("### Random reads, MB/s", "### Random writes, MB/s",
                "| path | 2 KiB | 4 KiB | 8 KiB | 16 KiB | 32 KiB |",
                "| theirs | 2.0 (2.0 to 2.0) | 4.1", "| theirs | 10.5 (7.0 to 14.0)");
        assertThat(Files.readString(folder.resolve("paths-write.svg"))).contains("Random writes",
                "theirs direct", "32 KiB");
        assertThat(folder.resolve("paths.json")).isNotEmptyFile();
    }
}
