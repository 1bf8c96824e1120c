package lunar.bench.raid;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.Results;
import lunar.bench.harness.Settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lunar.bench.raid.IraidCell.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IraidReportTest {
    @TempDir
    Path folder;

    /** A single target moves 10 MB/s, a volume that rate times its members; half of that on slow networks. */
    private static IraidFigure figure(IraidCell cell) {
        double mean = 10.0 * cell.setup().targets() / (cell.mbits() == IraidCell.FAST ? 1 : 2);
        return new IraidFigure(cell, List.of(mean - 1, mean, mean, mean + 1), 0.5);
    }

    private IraidReport report(List<IraidCell> cells) throws BenchException {
        return new IraidReport(new Results(Settings.parse(), Map.of("cores", "2")),
                Iraid.Plan.parse("--throttle=1MiB", "--out=" + folder),
                cells.stream().map(IraidReportTest::figure).toList());
    }

    @Test
    void shouldMeasureNoCellTwice() {
        assertThat(IraidCell.all()).doesNotHaveDuplicates().extracting(IraidCell::name)
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldReportRatiosToOneTarget() throws Exception {
        String text = report(IraidCell.all()).markdown();

        assertThat(text).contains(
                "| S-iRAID of 3 | random read | 3.00 | 3.00 | 3.00 | 3.00 | 3.00 |",
                "| P-iRAID of 4 | 1000 Mbit/s | 192 KiB | - | 40.00 (4.00) | - | - |",
                "| S-iRAID of 4 | 10 Mbit/s | 64 KiB | 20.00 | 20.00 | 20.00 | 20.00 |",
                "| S-iRAID, random write, 4 KiB | 3.80 | 4.00 |",
                "| P-iRAID of 4, random write, 4 KiB (four I/Os) | 1.00 | 4.00 |");
        assertThat(text).doesNotContain("| iSCSI | random read");
    }

    @Test
    void shouldDrawTheFiguresOfThePaper() throws Exception {
        report(IraidCell.all()).write(folder);

        for (int figure = 5; figure <= 10; figure++) {
            assertThat(Files.readString(folder.resolve("iraid-" + figure + ".svg")))
                    .contains("Figure " + figure + ":", "<circle").doesNotContain("NaN");
        }
        assertThat(Files.readString(folder.resolve("iraid-5.svg"))).contains(
                "P-iRAID of 4, degraded",
                "random write", "32 KiB");
        assertThat(Files.readString(folder.resolve("iraid-8.svg"))).contains("P-iRAID, 1 Gbit/s",
                "targets", ">8<");
        assertThat(folder.resolve("iraid.json")).isNotEmptyFile();
    }

    /** When only some cells were asked for. */
    @Test
    void shouldOmitUnmeasuredValues() throws Exception {
        IraidReport report = report(IraidCell.all().stream()
                .filter(cell -> cell.work().operation() == Operation.RANDOM_READ
                        && cell.setup().equals(IraidSetup.TARGET))
                .toList());
        report.write(folder);

        assertThat(report.markdown()).contains("| S-iRAID, random read, 4 KiB | 3.80 | - |");
        assertThat(Files.exists(folder.resolve("iraid-10.svg"))).isFalse();
        assertThat(folder.resolve("iraid-5.svg")).exists();
    }
}
