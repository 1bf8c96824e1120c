package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * libiscsi's conformance suite against our target. Its verdicts are compared with {@code iscsi-test-cu.expected}; a
 * verdict that has changed, for better or worse, fails until the file says the same
 * ({@code -Dlunar.expect.update=true} writes it).
 */
class ConformanceIT {
    private static final Path EXPECTED = Path.of("src/test/resources/iscsi-test-cu.expected");
    private static final Path FOUND = Path.of("target/iscsi-test-cu.verdicts");
    private static final Path LOG = Path.of("target/iscsi-test-cu.log");
    private static final Duration BOUND = Duration.ofMinutes(3);

    @Test
    void shouldGiveExpectedVerdicts() throws Exception {
        Peer.assume("iscsi-test-cu");
        List<ConformanceVerdict> found;
        try (ServedTarget target = ServedTarget.of("ram:256MiB")) {
            // Like -n, but -v also names each test, without which a skipped one cannot be told.
            Peer.Result result = Peer.run(BOUND, "iscsi-test-cu", "-d", "-v", "-t", "ALL",
                    target.url(0));
            Files.createDirectories(LOG.getParent());
            Files.writeString(LOG, result.output());
            assertThat(result.output()).as("runs to its end").contains("Run Summary:",
                    "Tests completed with return value: 0");
            found = ConformanceVerdict.parse(result.output());
        }
        Files.write(FOUND, lines(found), StandardCharsets.UTF_8);
        assertThat(found).as("tests with a verdict").hasSizeGreaterThan(200);
        if (Boolean.getBoolean("lunar.expect.update")) {
            Files.write(EXPECTED, lines(found), StandardCharsets.UTF_8);
        }
        assertAsExpected(found);
    }

    private static List<String> lines(List<ConformanceVerdict> verdicts) {
        return verdicts.stream().map(ConformanceVerdict::line).toList();
    }

    private static void assertAsExpected(List<ConformanceVerdict> found) throws IOException {
        List<String> difference = ConformanceVerdict.difference(ConformanceVerdict
                .read(Files.readAllLines(EXPECTED, StandardCharsets.UTF_8)), found);
        assertThat(difference).as("- is what %s says, + what was found; the log is %s. If it is as"
                + " it should be, write the file anew with -Dlunar.expect.update=true", EXPECTED,
                LOG).isEmpty();
    }
}
