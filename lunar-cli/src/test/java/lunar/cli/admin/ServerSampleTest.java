package lunar.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** Tests the rates between two samples of a unit that is at several LUNs. */
class ServerSampleTest {
    private static final long SECOND = 1_000_000_000;

    private static JsonNode commands(long writtenBytes) {
        return JsonMapper.shared().readTree("{\"writes\": 1, \"writtenBytes\": " + writtenBytes
                + ", \"writeLatency\": {\"buckets\": [1], \"totalNanos\": 1}}");
    }

    /** A sample of one unit at these LUNs. */
    private static ServerSample sample(long nanos, long writtenBytes, String... luns) {
        var commands = new LinkedHashMap<String, JsonNode>();
        var units = new LinkedHashMap<String, String>();
        for (String lun : luns) {
            commands.put(lun, commands(writtenBytes));
            units.put(lun, "unit");
        }
        return new ServerSample(nanos, MissingNode.getInstance(), commands, units, Map.of(),
                MissingNode.getInstance());
    }

    @Test
    void shouldSumAUnitAtSeveralLunsOnce() {
        ServerSample before = sample(0, 1000, "target 0", "target 1");
        ServerSample now = sample(SECOND, 5000, "target 0", "target 1");
        assertThat(now.luns(before)).extracting(Rates::name).containsExactly("target 0",
                "target 1");
        assertThat(now.luns(before)).extracting(Rates::writtenBytes).containsExactly(4000.0,
                4000.0);
        assertThat(now.distinctUnits(before)).extracting(Rates::writtenBytes)
                .containsExactly(4000.0);
    }

    @Test
    void shouldNotCountTheHistoryOfAUnitAgainAtANewLun() {
        ServerSample before = sample(0, 1000, "target 0");
        ServerSample now = sample(SECOND, 5000, "target 0", "target 7");
        assertThat(now.luns(before)).extracting(Rates::writtenBytes).containsExactly(4000.0,
                4000.0);
        assertThat(now.distinctUnits(before)).extracting(Rates::writtenBytes)
                .containsExactly(4000.0);
    }
}
