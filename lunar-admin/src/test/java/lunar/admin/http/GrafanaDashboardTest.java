package lunar.admin.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import lunar.admin.metrics.Metrics;
import lunar.admin.metrics.VolumeSamples;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests that the dashboard for Grafana asks for metrics, labels and states that there are. */
@Timeout(600)
class GrafanaDashboardTest {
    private static final Pattern SAMPLE = Pattern.compile("([a-z_0-9]+)(?:\\{(.*)})? \\S+");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"([^\"]*)\"");
    /** A metric of a query, and its matchers. */
    private static final Pattern SELECTOR = Pattern
            .compile("\\b((?:lunar|jvm|process)_[a-z0-9_]+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("([a-z_]+)(=~|!~|!=|=)\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");
    /** Labels of Prometheus, not of the server. */
    private static final Set<String> FOREIGN = Set.of("instance", "job");

    @TempDir
    Path folder;

    /** Values by label, by metric. */
    private final Map<String, Map<String, Set<String>>> metrics = new TreeMap<>();

    private void collect(String text) {
        text.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            var sample = SAMPLE.matcher(line);
            assertThat(sample.matches()).as(line).isTrue();
            Map<String, Set<String>> labels = metrics.computeIfAbsent(sample.group(1),
                    _ -> new HashMap<>());
            LABEL.matcher(Objects.requireNonNullElse(sample.group(2), "")).results()
                    .forEach(label -> labels
                            .computeIfAbsent(label.group(1), _ -> new HashSet<>())
                            .add(label.group(2)));
        });
    }

    private void collectAll() throws Exception {
        try (var fixture = new AdminFixture(folder,
                "file:" + folder.resolve("disk.img") + "?size=1MiB");
                BlockDevice disk = Devices.open(fixture.uri())) {
            disk.read(0, MemorySegment.ofArray(new byte[512]));
            var scrape = new Metrics(fixture.subject(), Instant.now()).scrape("text/plain");
            collect(new String(scrape.text(), UTF_8));
        }
        collect(VolumeSamples.text());
    }

    private static JsonNode dashboard() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        Path file = Path.of("packaging", "grafana", "lunar.json");
        while (!Files.exists(here.resolve(file))) {
            here = here.getParent();
        }
        return JsonMapper.shared().readTree(Files.readString(here.resolve(file)));
    }

    private static List<JsonNode> panels() throws IOException {
        return dashboard().path("panels").valueStream()
                .filter(panel -> !panel.path("type").asString().equals("row")).toList();
    }

    private static List<String> queries() throws IOException {
        return Stream.concat(
                panels().stream().flatMap(panel -> panel.path("targets").valueStream())
                        .map(target -> target.path("expr").asString()),
                dashboard().path("templating").path("list").valueStream()
                        .filter(variable -> variable.path("type").asString().equals("query"))
                        .map(variable -> variable.path("query").asString()))
                .toList();
    }

    @Test
    void shouldAskForMetricsLabelsAndStatesThatThereAre() throws Exception {
        collectAll();
        assertThat(queries()).hasSizeGreaterThan(30);
        for (String query : queries()) {
            List<MatchResult> selectors = SELECTOR.matcher(query).results().toList();
            assertThat(selectors).as(query).isNotEmpty();
            for (MatchResult selector : selectors) {
                requireKnown(query, selector.group(1),
                        Objects.requireNonNullElse(selector.group(2), ""));
            }
            String first = selectors.getFirst().group(1);
            GROUPING.matcher(query).results()
                    .flatMap(by -> Stream.of(by.group(1).split(", *")))
                    .filter(label -> !FOREIGN.contains(label))
                    .forEach(label -> assertThat(metrics.get(first)).as(query)
                            .containsKey(label));
        }
    }

    private void requireKnown(String query, String metric, String matchers) {
        assertThat(metrics).as(query).containsKey(metric);
        Map<String, Set<String>> labels = Objects.requireNonNull(metrics.get(metric));
        for (MatchResult matcher : MATCHER.matcher(matchers).results().toList()) {
            String label = matcher.group(1);
            if (!FOREIGN.contains(label)) {
                assertThat(labels).as(query).containsKey(label);
                if (!matcher.group(3).startsWith("$")) {
                    assertThat(labels.get(label)).as(query).contains(matcher.group(3));
                }
            }
        }
    }

    @Test
    void shouldHavePanelsWithADescriptionThatDoNotOverlap() throws Exception {
        var taken = new HashSet<List<Integer>>();
        var ids = new ArrayList<Integer>();
        for (JsonNode panel : dashboard().path("panels")) {
            ids.add(panel.path("id").asInt());
            JsonNode place = panel.path("gridPos");
            for (int x = place.path("x").asInt(); x < place.path("x").asInt()
                    + place.path("w").asInt(); x++) {
                assertThat(x).isLessThan(24);
                for (int y = place.path("y").asInt(); y < place.path("y").asInt()
                        + place.path("h").asInt(); y++) {
                    assertThat(taken.add(List.of(x, y))).as(panel.path("title").asString())
                            .isTrue();
                }
            }
        }
        assertThat(ids).doesNotHaveDuplicates();
        for (JsonNode panel : panels()) {
            assertThat(panel.path("description").asString()).as(panel.path("title").asString())
                    .isNotBlank();
        }
    }
}
