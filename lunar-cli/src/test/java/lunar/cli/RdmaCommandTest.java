package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaDevice;
import lunar.rdma.RdmaUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code lunar rdma}, over libfabric where it is installed. */
class RdmaCommandTest {
    private static void require(String device) {
        try {
            RdmaDevice _ = Rdma.device(device);
        } catch (RdmaUnavailableException e) {
            System.out.println("RdmaCommandTest is skipped: " + e.getMessage());
            assumeTrue(false, e.getMessage());
        }
    }

    private static JsonNode json(CommandRun run) {
        return JsonMapper.shared().readTree(run.succeeds().out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices", "ping", "bench", "respond"})
    void shouldShowHelpWithAnExample(String command) {
        assertThat(CommandRun.of("rdma", command, "--help").succeeds().out())
                .startsWith("Usage: lunar rdma " + command).contains("Example")
                .contains("\n  lunar rdma " + command);
    }

    @Test
    void shouldListDevices() {
        require("libfabric:tcp");
        assertThat(CommandRun.of("rdma", "devices").succeeds().out().lines())
                .anyMatch(line -> line.startsWith("libfabric:tcp "));
    }

    @Test
    void shouldListProvidersAsJson() {
        require("libfabric:tcp");
        JsonNode providers = json(CommandRun.of("rdma", "devices", "--json")).get("providers");
        assertThat(providers.findValuesAsString("name")).contains("verbs", "libfabric",
                "libfabric:tcp");
    }

    @Test
    void shouldMeasureRoundTrips() {
        require("libfabric:tcp");
        JsonNode result = json(CommandRun.of("rdma", "ping", "--device", "libfabric:tcp",
                "--count", "50", "--size", "1k", "--json"));
        assertThat(result.get("device").asString()).startsWith("libfabric:tcp");
        assertThat(result.get("messageBytes").asInt()).isEqualTo(1024);
        assertThat(result.get("roundTrips").asInt()).isEqualTo(50);
        assertThat(result.get("medianMicroseconds").asDouble()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"libfabric:tcp", "libfabric:shm"})
    void shouldMeasureAllVariants(String device) {
        require(device);
        JsonNode result = json(CommandRun.of("rdma", "bench", "--device", device, "--sizes",
                "4,64k", "--count", "20", "--bytes", "4k", "--json"));
        List<String> variants = result.get("results").findValuesAsString("variant");
        assertThat(variants).containsExactly("copy", "copy-alloc", "zero-copy", "pin", "copy",
                "copy-alloc", "zero-copy", "pin");
        result.get("results").forEach(
                row -> assertThat(row.get("megabytesPerSecond").asDouble()).isPositive());
    }

    @Test
    void shouldReportUnknownDevice() {
        CommandRun.of("rdma", "ping", "--device", "none").fails(1, "no RDMA device 'none'",
                "lunar rdma devices");
    }

    @Test
    void shouldReportRefusedConnection() {
        require("libfabric:tcp");
        CommandRun.of("rdma", "ping", "127.0.0.1:1", "--device", "libfabric:tcp").fails(1,
                "127.0.0.1:1", "lunar rdma respond");
    }

    @ParameterizedTest
    @CsvSource({"--count,0", "--size,0", "--size,1g"})
    void shouldRefuseValuesOutOfRange(String option, String value) {
        CommandRun.of("rdma", "ping", option, value).fails(2, option);
    }

    @Test
    void shouldRefuseUnknownVariant() {
        CommandRun.of("rdma", "ping", "--variant", "magic").fails(1, "zero-copy");
    }
}
