package lunar.it.fuzz;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A short run of the fuzzer; {@code make fuzz} is the long one. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class FuzzIT {
    private static final int STREAMS = 20_000;

    @Test
    void shouldSurviveHostileStreams() {
        long seed = Seed.next();
        var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        assertThatCode(() -> Fuzzer.run(seed, STREAMS, 0, false, Path.of("target/fuzz"), output))
                .as("seed %d", seed).doesNotThrowAnyException();
    }
}
