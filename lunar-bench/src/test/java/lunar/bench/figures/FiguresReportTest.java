package lunar.bench.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.bench.figures.Figures.Cell;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class FiguresReportTest {
    private static final Cell ONE = new Cell(false, 1, 1);
    private static final Cell DEEP = new Cell(false, 1, 32);
    private static final Cell WRITE = new Cell(true, 5, 1);

    @TempDir
    Path folder;

    private FiguresReport report(List<String> labels) {
        var times = new LinkedHashMap<Cell, Map<String, List<Double>>>();
        times.put(ONE, Map.of("Lunar", List.of(10.0, 12.0, 14.0), "jSCSI 2.2",
                List.of(20.0, 48.0, 42.0)));
        times.put(DEEP, Map.of("Lunar", List.of(3.0, 3.0, 3.0), "jSCSI 2.2",
                List.of(30.0, 30.0, 60.0), "iscsi-perf", List.of(4.0, 5.0)));
        times.put(WRITE, Map.of("Lunar", List.of(7.0, 8.0, 9.0), "jSCSI 2.2",
                List.of(70.0, 71.0, 72.0)));
        return new FiguresReport(new Figures.Plan(3, 0, 1000, List.of(1, 5), 32, 1, folder, folder,
                folder, "test"), labels, times, Map.of("cores", "2"));
    }

    /** By hand: s = 2, t(2) = 4.303; ratios 2, 4 and 3. */
    @Test
    void shouldReportMeansIntervalsAndRatios() {
        String tables = report(List.of("Lunar", "jSCSI 2.2", "iscsi-perf")).tables();

        assertThat(tables.lines().filter(line -> line.startsWith("1 thread ")).findFirst()
                .orElseThrow().split(" {2,}")).containsExactly("1 thread", "12.00 +- 4.97",
                        "36.67 +- 36.62, 3.00 times", "-");
        assertThat(tables).contains("1 thread, 32 in flight", "40.00 +- 43.03, 10.00 times",
                "4.50 +- 6.35", "4 KiB random writes", "5 threads");
    }

    @Test
    void shouldDrawAndRecordAvailableResults() throws Exception {
        report(List.of("Lunar", "jSCSI 2.2")).write(); // libiscsi is not installed

        assertThat(Files.readString(folder.resolve("figure-3.svg"))).contains("jSCSI 2.2",
                "1 thread, 32 in flight", "5 threads").doesNotContain("libiscsi");
        assertThat(Files.readString(folder.resolve("figure-4.svg"))).contains("Write", "threads");
        JsonNode cells = new JsonMapper().readTree(folder.resolve("figures.json").toFile())
                .path("cells");
        assertThat(cells.size()).isEqualTo(6);
        assertThat(cells.get(1).path("initiator").asString()).isEqualTo("jSCSI 2.2");
        assertThat(cells.get(1).path("medianRatioToFirst").asDouble()).isEqualTo(3);
        assertThat(cells.get(1).path("runsUs").get(1).asInt()).isEqualTo(48_000);
    }
}
