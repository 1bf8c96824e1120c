package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lunar.admin.client.AdminClient;
import lunar.admin.client.RequestFailedException;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.CapturedLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests the requests that change the LUNs of a running server, and drain it. */
@Timeout(600)
class ChangeApiTest {
    private static final String TARGET = "/v1/targets/" + AdminClient.segment(AdminFixture.IQN);

    @TempDir
    Path folder;

    private static String lun(AdminFixture fixture, int lun) {
        return fixture.uri().replaceFirst("/0$", "/" + lun);
    }

    @Test
    void shouldChangeLunsWhileASessionGoesOn() throws Exception {
        try (var fixture = new AdminFixture(folder);
                BlockDevice first = Devices.open(fixture.uri())) {
            assertThat(TARGET).contains("%3A");
            JsonNode added = fixture.client().post(TARGET + "/luns", Map.of("uri", "ram:2MiB"));
            assertThat(added.path("lun").asInt()).isEqualTo(1);
            assertThat(added.path("changes").toString()).contains("lun 1 ram:2MiB");
            first.write(0, MemorySegment.ofArray(new byte[512]));
            try (BlockDevice second = Devices.open(lun(fixture, 1))) {
                assertThat(second.sizeBytes()).isEqualTo(2 << 20);
                second.write(0, MemorySegment.ofArray(new byte[512]));
                fixture.client().patch(TARGET + "/luns/1", Map.of("sizeBytes", 3 << 20));
                second.write(0, MemorySegment.ofArray(new byte[512]));
            }
            try (BlockDevice grown = Devices.open(lun(fixture, 1))) {
                assertThat(grown.sizeBytes()).isEqualTo(3 << 20);
            }
            JsonNode luns = fixture.client().get("/v1/luns");
            assertThat(luns.path("luns").path(0).path("temporary").asBoolean()).isFalse();
            assertThat(luns.path("luns").path(1).path("temporary").asBoolean()).isTrue();
            assertThat(luns.path("temporaryChanges").path(0).path("text").asString())
                    .isEqualTo("LUN 1 of " + AdminFixture.IQN + " was added: ram:3MiB");
            fixture.client().delete(TARGET + "/luns/1");
            assertThat(fixture.client().get("/v1/luns").path("luns")).hasSize(1);
            first.write(0, MemorySegment.ofArray(new byte[512]));
            assertThat(fixture.server.sessionCount()).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseWrongRequestsInOneLine() throws Exception {
        String secret = "iscsi://user%25geheim@127.0.0.1:1/" + AdminFixture.IQN + "/0";
        try (var fixture = new AdminFixture(folder); var log = new CapturedLog("lunar.audit")) {
            List<Map<String, Object>> wrong = List.of(Map.of(),
                    Map.of("uri", ""), Map.of("uri", "nothing"), Map.of("uri", "ram:much"),
                    Map.of("uri", "file:" + folder + "/none"), Map.of("uri", "ram:1MiB\nram:1MiB"),
                    Map.of("uri", "file:" + "x".repeat(5000)), Map.of("uri", secret + "?x=1"),
                    Map.of("uri", "file:" + folder + "/none?io=%1b[2J"),
                    Map.of("uri", "ram:1MiB", "lun", 16384), Map.of("uri", "ram:1MiB", "lun", -1),
                    Map.of("uri", "ram:1MiB", "lun", "1"), Map.of("uri", "ram:1MiB", "chap", "x"),
                    Map.of("uri", "ram:1MiB", "readOnly", "yes"));
            for (Map<String, Object> content : wrong) {
                assertThatThrownBy(() -> fixture.client().post(TARGET + "/luns", content))
                        .as(content.toString()).isInstanceOf(RequestFailedException.class)
                        .message().doesNotContain("\n", "geheim", "HTTP status");
            }
            for (String uri : List.of(secret.replace("//", ""), secret.substring(8),
                    secret.replace("%25ge", "%25ge?"))) {
                assertThatThrownBy(() -> fixture.client().post(TARGET + "/luns",
                        Map.of("uri", uri))).isInstanceOf(RequestFailedException.class);
            }
            assertThatThrownBy(() -> fixture.client().post("/v1/targets/a%2Fb%0A/luns",
                    Map.of("uri", "ram:1MiB"))).isInstanceOf(RequestFailedException.class);
            assertThat(fixture.server.units()).hasSize(1);
            assertThat(fixture.server.changes()).isEmpty();
            assertThatThrownBy(() -> fixture.client().delete(TARGET + "/luns/7"));
            assertThat(log.linesWith("LUN 7 of " + AdminFixture.IQN
                    + " was not removed: " + AdminFixture.IQN + " has no LUN 7")).hasSize(1);
            assertThat(log.linesWith("was not added: " + folder + "/none does not exist"))
                    .hasSize(1);
            assertThat(log.linesWith("heim")).isEmpty();
            assertThat(log.linesWith("")).allMatch(line -> line.length() < 500
                    && line.chars().noneMatch(Character::isISOControl));
        }
    }

    @Test
    void shouldNeedTheTokenForChanges() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            assertThatThrownBy(() -> fixture.overTcp("").post("/v1/drain", Map.of()))
                    .hasMessageContaining("bearer token");
            assertThatThrownBy(() -> fixture.overTcp("").post(TARGET + "/luns",
                    Map.of("uri", "ram:1MiB"))).hasMessageContaining("bearer token");
            assertThat(fixture.server.isDraining()).isFalse();
            assertThat(fixture.overTcp(AdminFixture.TOKEN)
                    .post(TARGET + "/luns", Map.of("uri", "ram:1MiB")).path("lun").asInt())
                    .isEqualTo(1);
        }
    }

    @Test
    void shouldDrainAndAcceptLoginsAgain() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            BlockDevice disk = Devices.open(fixture.uri());
            JsonNode drained = fixture.client().post("/v1/drain", Map.of("waitSeconds", 30));
            assertThat(drained.path("sessions").asInt()).isEqualTo(1);
            assertThat(drained.path("ended").asInt()).isEqualTo(1);
            assertThat(drained.path("draining").asBoolean()).isTrue();
            assertThat(fixture.server.sessionCount()).isZero();
            assertThatThrownBy(() -> fixture.client().get("/readyz"))
                    .hasMessageContaining("is drained");
            assertThat(fixture.client().get("/healthz").path("ok").asBoolean()).isTrue();
            JsonNode status = fixture.client().get("/v1/status");
            assertThat(status.path("draining").asBoolean()).isTrue();
            assertThat(status.path("status").asString()).isEqualTo("ok");
            fixture.client().post(TARGET + "/luns", Map.of("uri", "ram:1MiB"));
            assertThatThrownBy(() -> Devices.open(fixture.uri()))
                    .hasStackTraceContaining("service unavailable");
            fixture.client().delete("/v1/drain");
            assertThat(fixture.client().get("/readyz").path("ok").asBoolean()).isTrue();
            disk.close();
            try (BlockDevice again = Devices.open(fixture.uri())) {
                assertThat(again.sizeBytes()).isEqualTo(1 << 20);
            }
            fixture.client().post(TARGET + "/drain", Map.of());
            assertThat(fixture.client().get("/v1/status").path("drainedTargets").path(0)
                    .asString()).isEqualTo(AdminFixture.IQN);
        }
    }

    @Test
    void shouldPassOnThatChangesAreDiscarded() throws Exception {
        try (var fixture = new AdminFixture(folder)) {
            fixture.client().post("/v1/reload?discard=true");
            assertThat(fixture.discarding).isTrue();
            fixture.client().post("/v1/reload");
            assertThat(fixture.discarding).isFalse();
        }
    }
}
