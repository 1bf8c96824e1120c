package lunar.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tomlj.Toml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests that the JSON Schema of config files says what the code accepts. */
class ConfigSchemaTest {
    private static final Map<String, Set<String>> TABLES = Map.of(
            "portal", PortalTables.PORTAL_KEYS, "portal-group", PortalTables.GROUP_KEYS,
            "moved-to", PortalTables.MOVED_KEYS, "limits", ConfigFile.LIMIT_KEYS,
            "target", TargetTables.TARGET_KEYS, "lun", TargetTables.LUN_KEYS,
            "initiator", TargetTables.INITIATOR_KEYS, "volume", VolumeTable.KEYS,
            "admin", AdminTable.KEYS);

    private static JsonNode schema() throws IOException {
        return JsonMapper.shared().readTree(ConfigSchema.text());
    }

    private static List<String> errors(String toml) throws IOException {
        Schema schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(ConfigSchema.text());
        return schema.validate(Toml.parse(toml).toJson(), InputFormat.JSON).stream()
                .map(Object::toString).toList();
    }

    static Stream<Path> examples() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.exists(here.resolve("config").resolve("simple.toml"))) {
            here = here.getParent();
        }
        try (Stream<Path> all = Files.list(here.resolve("config"))) {
            return all.filter(file -> file.toString().endsWith(".toml")).toList().stream();
        }
    }

    @Test
    void shouldHaveTheKeysOfTheCodeAndNoOthers() throws IOException {
        assertThat(new TreeSet<>(schema().path("properties").propertyNames()))
                .isEqualTo(new TreeSet<>(ConfigFile.KEYS));
        TABLES.forEach((name, keys) -> {
            try {
                assertThat(new TreeSet<>(schema().path("$defs").path(name).path("properties")
                        .propertyNames())).as(name).isEqualTo(new TreeSet<>(keys));
            } catch (IOException e) {
                throw new IllegalStateException(name, e);
            }
        });
    }

    @Test
    void shouldCloseEveryTable() throws IOException {
        var open = new TreeSet<String>();
        schema().path("$defs").properties().forEach(definition -> {
            if (definition.getValue().has("properties")
                    && definition.getValue().path("additionalProperties").asBoolean(true)) {
                open.add(definition.getKey());
            }
            if (definition.getValue().has("properties")) {
                assertThat(TABLES).containsKey(definition.getKey());
            }
        });
        assertThat(open).isEmpty();
        assertThat(schema().path("additionalProperties").asBoolean(true)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("examples")
    void shouldAcceptTheExamples(Path example) throws IOException {
        assertThat(errors(Files.readString(example))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"colour = 'red'", "portals = ['a:b:c']", "luns = [1]",
            "limits = {sessions = 0}", "admin = {listen = '127.0.0.1'}", "admin = {port = 1}",
            "limits = {poll = '5'}", "chap = 'me'",
            "target = [{luns = ['ram:1MiB']}]", "target = [{iqn = 'a', luns2 = []}]",
            "portal-group = [{tag = 65536, portals = ['::1']}]", "data-digest = 'maybe'",
            "volume = [{name = 'v', members = []}]",
            "target = [{iqn = 'a', initiator = [{name = '*', luns = {x = 0}}]}]",
            "target = [{iqn = 'a', access = {1 = 'off'}}]"})
    void shouldRefuseWhatTheCodeRefuses(String toml) throws IOException {
        assertThat(errors(toml)).isNotEmpty();
    }
}
