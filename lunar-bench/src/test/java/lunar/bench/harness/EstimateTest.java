package lunar.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EstimateTest {
    /** By hand: s = sqrt(2.5), t(4) = 2.776. */
    @Test
    void shouldReportMeanAndIntervalOfASmallSample() {
        Estimate estimate = Estimate.of(List.of(1.0, 2.0, 3.0, 4.0, 5.0));

        assertThat(estimate.count()).isEqualTo(5);
        assertThat(estimate.mean()).isEqualTo(3);
        assertThat(estimate.halfWidth()).isCloseTo(1.9632, within(0.0001));
        assertThat(estimate.low()).isCloseTo(1.0368, within(0.0001));
        assertThat(estimate.high()).isCloseTo(4.9632, within(0.0001));
    }

    @Test
    void shouldReportNoIntervalForOneValue() {
        assertThat(Estimate.of(List.of(7.0)))
                .isEqualTo(new Estimate(1, 7, Double.POSITIVE_INFINITY));
    }

    /** Checks 95 % confidence: 19 of 20 such intervals contain the true mean. */
    @Test
    void shouldHoldTheTrueMeanInNineteenOfTwentySamples() {
        var random = new Random(1);
        int held = 0;
        for (int i = 0; i < 2_000; i++) {
            var sample = new ArrayList<Double>();
            for (int j = 0; j < 10; j++) {
                sample.add(random.nextGaussian(5, 2));
            }
            Estimate estimate = Estimate.of(sample);
            held += estimate.low() <= 5 && 5 <= estimate.high() ? 1 : 0;
        }

        assertThat(held).isBetween(1_860, 1_940);
    }
}
