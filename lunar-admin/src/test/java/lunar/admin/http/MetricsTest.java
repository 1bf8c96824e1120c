package lunar.admin.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.admin.metrics.Metrics;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the metrics of a server that is in use, and the rules of Prometheus for their names and form. */
@Timeout(600)
class MetricsTest {
    private static final Pattern SAMPLE = Pattern
            .compile("([a-z_][a-z0-9_]*)(\\{.*\\})? (\\S+)");
    private static final String LUN = "{lun=\"0\",target=\"" + AdminFixture.IQN + "\"}";

    @TempDir
    Path folder;

    /** Returns the samples by name and labels, and checks that each has a type and help. */
    private static Map<String, Double> samples(String text) {
        var samples = new HashMap<String, Double>();
        var types = new HashMap<String, String>();
        var helped = new TreeSet<String>();
        for (String line : text.split("\n")) {
            if (line.startsWith("# TYPE ")) {
                assertThat(types.put(line.split(" ")[2], line.split(" ")[3])).as(line).isNull();
            } else if (line.startsWith("# HELP ")) {
                helped.add(line.split(" ")[2]);
            } else if (!line.startsWith("#")) {
                Matcher sample = SAMPLE.matcher(line);
                assertThat(sample.matches()).as(line).isTrue();
                String name = sample.group(1);
                String family = types.containsKey(name)
                        ? name
                        : name.replaceFirst("_(bucket|sum|count)$", "");
                assertThat(types).as(line).containsKey(family);
                assertThat(helped).as(line).contains(family);
                if (types.get(family).equals("counter")) {
                    assertThat(name).as("a counter").endsWith("_total");
                }
                String labels = sample.group(2) == null ? "" : sample.group(2);
                assertThat(samples.put(name + labels, Double.parseDouble(sample.group(3)
                        .replace("+Inf", "Infinity")))).as("twice: " + line).isNull();
            }
        }
        return samples;
    }

    @Test
    void shouldCountWhatInitiatorsDo() throws Exception {
        try (var fixture = new AdminFixture(folder);
                BlockDevice disk = Devices.open(fixture.uri())) {
            disk.write(3, MemorySegment.ofArray(new byte[1024]));
            disk.read(3, MemorySegment.ofArray(new byte[512]));
            Map<String, Double> found = samples(fixture.client().text("/metrics"));
            assertThat(found.get("lunar_lun_written_bytes_total" + LUN)).isEqualTo(1024);
            assertThat(found.get("lunar_lun_commands_in_flight" + LUN)).isZero();
            assertThat(found.get("lunar_lun_size_bytes" + LUN)).isEqualTo(1 << 20);
            assertThat(found.get("lunar_target_sessions{target=\"" + AdminFixture.IQN + "\"}"))
                    .isEqualTo(1);
            assertThat(found.keySet())
                    .anyMatch(name -> name.startsWith("lunar_initiator_read_bytes_total{")
                            && name.contains("initiator=\"iqn."))
                    .anyMatch(name -> name.startsWith("lunar_lun_command_duration_seconds_bucket{")
                            && name.contains("le=\"0.001\""))
                    .anyMatch(name -> name.startsWith("lunar_lun_check_conditions_total{")
                            && name.contains("sense_key=\"medium_error\""))
                    .anyMatch(name -> name.startsWith("jvm_"))
                    .contains("lunar_problems", "lunar_build_info{version=\"0\"}");
            double all = found
                    .get("lunar_lun_commands_total{lun=\"0\",operation=\"write\",target=\""
                            + AdminFixture.IQN + "\"}");
            assertThat(found.get("lunar_lun_command_duration_seconds_bucket{lun=\"0\","
                    + "operation=\"write\",target=\"" + AdminFixture.IQN + "\",le=\"+Inf\"}"))
                    .as("the histogram has all commands").isEqualTo(all).isEqualTo(1);
        }
    }

    @Test
    void shouldSpeakOpenMetricsToThoseWhoAskForIt() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            var metrics = new Metrics(fixture.subject(), Instant.now());
            Metrics.Scrape open = metrics.scrape("application/openmetrics-text;version=1.0.0");
            assertThat(open.contentType()).startsWith("application/openmetrics-text");
            assertThat(new String(open.text(), UTF_8)).endsWith("# EOF\n")
                    .contains("# TYPE lunar_lun_commands");
            Metrics.Scrape plain = metrics.scrape("text/plain");
            assertThat(plain.contentType()).startsWith("text/plain");
            assertThat(samples(new String(plain.text(), UTF_8))).isNotEmpty();
        }
    }
}
