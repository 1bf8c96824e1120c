package lunar.bench.compare;

import lunar.bench.load.Measurement;
import lunar.bench.harness.Spread;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class CompareTest {
    private static List<Measurement> rounds(double... iops) {
        return DoubleStream.of(iops).mapToObj(one -> new Measurement(1, "", "", one, 0, 0, 0, 0, 1,
                1e6 / one, 0, 0, 0)).toList();
    }

    /** The machine is half as fast in two rounds, which is nobody's fault. */
    @Test
    void shouldCompareWithinTheRounds() {
        Compare.Row row = Compare.row(Agenda.READS, "memory", rounds(100, 50, 100, 50, 100),
                rounds(80, 40, 85, 40, 80));

        assertThat(row.before().median()).isEqualTo(100);
        assertThat(row.ratio().ratios()).isEqualTo(new Spread(0.8, 0.8, 0.85));
        assertThat(row.ratio().found()).isTrue();
        assertThat(row.serverUs().median()).isEqualTo(1.25);
    }

    @Test
    void shouldReportWhatIsFaster() {
        assertThat(Compare.row(Agenda.READS, "memory", rounds(100, 100, 100, 100, 100),
                rounds(150, 120, 130, 140, 150)).ratio().verdict()).isEqualTo("faster");
    }
}
