package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class BenchTest {
    private static final String SHORT = " --time 200ms --ramp 0s";
    /** On a loaded machine, a thread may not run at all for longer than the short time. */
    private static final String LONG = " --time 15s --ramp 0s";
    private static final String NOTHING_DONE = "no request was completed";
    private static final int REQUEST_BYTES = 4096;

    @TempDir
    Path folder;

    /** Measures for a short time, or for a long one if it was too short. */
    private static CommandRun run(String line) {
        CommandRun run = CommandRun.of((line + SHORT).split(" "));
        return run.err().contains(NOTHING_DONE)
                ? CommandRun.of((line + LONG).split(" "))
                : run;
    }

    private static JsonNode json(String line) { return json(run(line + " --json")); }

    private static JsonNode json(CommandRun run) {
        return new JsonMapper().readTree(run.succeeds().out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"randread", "randwrite", "read", "write", "randrw"})
    void shouldMeasureEveryPattern(String pattern) {
        String line = "bench ram:1MiB --qd 4 --threads 2 --json --rw " + pattern;
        JsonNode json = json(run(line));
        if (pattern.equals("randrw") && (json.at("/total/readIops").asDouble() == 0
                || json.at("/total/writeIops").asDouble() == 0)) {
            json = json(CommandRun.of((line + LONG).split(" ")));
        }
        assertThat(json.get("rw").asString()).isEqualTo(pattern);
        JsonNode total = json.get("total");
        assertThat(total.get("iops").asDouble()).isPositive();
        assertThat(total.get("readIops").asDouble() > 0).isEqualTo(!pattern.endsWith("write"));
        assertThat(total.get("writeIops").asDouble() > 0).isEqualTo(!pattern.endsWith("read"));
        JsonNode latency = total.get("latencyMicroseconds");
        assertThat(latency.get("p50").asDouble()).isLessThanOrEqualTo(
                latency.get("p99").asDouble());
        assertThat(latency.get("p99.9").asDouble()).isLessThanOrEqualTo(
                latency.get("max").asDouble() * 1.01);
        assertThat(total.get("cpuMicrosecondsPerOperation").asDouble()).isPositive();
    }

    @Test
    void shouldMeasureSeveralDevicesAtOnce() throws Exception {
        try (var serving = new CommandRun.Serving(1, "serve", "--portal", "127.0.0.1:0",
                "ram:1MiB")) {
            JsonNode json = json("bench ram:1MiB " + serving.uri(0) + " --rw randread --bs 8k");
            assertThat(json.get("devices")).hasSize(2);
            double sum = 0;
            for (JsonNode device : json.get("devices")) {
                sum += device.get("operations").asLong();
            }
            assertThat(json.at("/total/operations").asDouble()).isEqualTo(sum);
            assertThat(json.get("blockSizeBytes").asInt()).isEqualTo(8192);
        }
    }

    @Test
    void shouldPrintATableForPeople() {
        assertThat(run("bench ram:1MiB --rw read").succeeds().out())
                .contains("IOPS", "MB/s", "p50", "p99.9", "max", "ram:1MiB", "processor time");
    }

    @Test
    void shouldStayWithinTheSizeGiven() throws IOException {
        Path file = Files.write(folder.resolve("disk.img"), new byte[1 << 20]);
        json("bench file:" + file + " --rw randwrite --force --size 64k");
        byte[] bytes = Files.readAllBytes(file);
        assertThat(java.util.Arrays.copyOf(bytes, 64 << 10)).isNotEqualTo(new byte[64 << 10]);
        assertThat(java.util.Arrays.copyOfRange(bytes, 64 << 10, bytes.length)).containsOnly(0);
    }

    @Test
    void shouldNotOverwriteDataUnlessForced() throws IOException {
        Path file = Files.write(folder.resolve("disk.img"), new byte[1 << 20]);
        CommandRun.of("bench", "file:" + file, "--rw", "randwrite").fails(1, "overwrites",
                "--force");
        CommandRun.of("bench", "file:" + file + "?size=1MiB", "--rw", "randrw").fails(1,
                "overwrites", "--force");
        assertThat(Files.readAllBytes(file)).containsOnly(0);
        CommandRun fresh = CommandRun.of(("bench file:" + folder.resolve("new.img")
                + "?size=1MiB --rw write" + SHORT).split(" "));
        if (!fresh.err().contains(NOTHING_DONE)) {
            fresh.succeeds();
        }
        json("bench delay=1us:ram:1MiB --rw write");
    }

    @Test
    void shouldReportThatRequestsDoNotFit() {
        CommandRun.of("bench", "ram:1MiB?block-size=4k", "--rw", "read", "--bs", "512").fails(1,
                "--bs 512", "4096");
        CommandRun.of("bench", "ram:1MiB", "--rw", "read", "--bs", "2MiB").fails(1, "--bs");
    }

    @Test
    void shouldReportAFailureOfTheDevice() {
        run("bench fault=1,op=read:ram:1MiB --rw randread").fails(1, "READ");
    }

    @Test
    void shouldFailIfNoRequestCompletesInTime() {
        CommandRun.of("bench", "delay=2s:ram:1MiB", "--rw", "read", "--time", "100ms", "--ramp",
                "0s").fails(1, "no request was completed", "--time");
    }

    @Test
    void shouldPrintWhatWasMeasuredWhenItIsInterrupted() throws Exception {
        Path file = folder.resolve("disk.img");
        // Where the build runs in the background of a shell, SIGINT would be ignored.
        var command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.addAll(ServingProcess.lunar("bench", "file:" + file + "?size=1MiB", "--rw",
                "write", "--time", "10m", "--ramp", "0s", "--json"));
        Process process = new ProcessBuilder(command)
                .redirectError(folder.resolve("err.txt").toFile()).start();
        try {
            while (process.isAlive() && !isWrittenToTheEnd(file)) {
                Thread.sleep(50); // the JVM starts, then the load
            }
            Process kill = new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start();
            assertThat(kill.waitFor()).isZero();
            JsonNode json = new JsonMapper().readTree(process.getInputStream());
            assertThat(json.at("/total/operations").asLong()).isPositive();
            assertThat(json.get("seconds").asDouble()).isBetween(0.0, 599.0);
            assertThat(process.waitFor()).isEqualTo(130);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Whether the last block was written: most of the requests before it have then been completed. */
    private static boolean isWrittenToTheEnd(Path file) throws IOException {
        byte[] bytes = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
        for (int i = Math.max(0, bytes.length - REQUEST_BYTES); i < bytes.length; i++) {
            if (bytes.length == 1 << 20 && bytes[i] != 0) {
                return true;
            }
        }
        return false;
    }
}
