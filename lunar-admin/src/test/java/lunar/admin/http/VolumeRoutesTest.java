package lunar.admin.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.UnixDomainSocketAddress;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import lunar.admin.client.AdminClient;
import lunar.raid.layout.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests the routes that operate on a served volume. */
@Timeout(900)
class VolumeRoutesTest {
    @TempDir
    Path folder;

    private static String slot(JsonNode state, int slot, String field) {
        return state.path("slots").path(slot).path(field).asString();
    }

    @Test
    void shouldFailReaddAndReplaceMembers() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            assertThat(volume.state().path("volume").asString()).isEqualTo("raid1:vol");
            assertThat(volume.state().path("state").asString()).isEqualTo("clean");

            JsonNode failed = volume.change("fail", "{\"slot\": 1}");
            assertThat(failed.path("state").asString()).isEqualTo("degraded");
            assertThat(slot(failed, 1, "state")).isEqualTo("failed");
            var _ = volume.change("rebuild", ""); // it stays out
            assertThat(slot(volume.state(), 1, "state")).isEqualTo("failed");
            assertThat(volume.refused(409, "fail", "{\"slot\": 0}"))
                    .contains("cannot do without slot 0");
            var _ = volume.change("add", "{\"slot\": 1}");
            assertThat(slot(volume.awaitClean(), 1, "uri")).isEqualTo(volume.file("m1"));

            var _ = volume.change("fail", "{\"slot\": \"" + volume.file("m0") + "\"}");
            JsonNode replaced = volume.change("replace", "{\"slot\": 0, \"uri\": \""
                    + volume.file("new") + ServedVolume.SIZE + "\"}");
            assertThat(slot(replaced, 0, "uri")).isEqualTo(volume.file("new"));
            assertThat(slot(volume.awaitClean(), 0, "state")).isEqualTo("active");
            assertThat(volume.refused(409, "replace", "{\"slot\": 1, \"uri\": \""
                    + volume.file("m0") + "\"}")).contains("would be destroyed");
            var _ = volume.change("replace", "{\"slot\": 1, \"uri\": \"" + volume.file("m0")
                    + "\", \"force\": true}");
            assertThat(slot(volume.awaitClean(), 1, "uri")).isEqualTo(volume.file("m0"));
        }
    }

    @Test
    void shouldAddAndRemoveSparesAndGrow() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            JsonNode added = volume.change("add", "{\"uri\": \"" + volume.file("s")
                    + ServedVolume.SIZE + "\"}");
            assertThat(added.path("spares").path(0).path("uri").asString())
                    .isEqualTo(volume.file("s"));
            assertThat(volume.refused(409, "add", "{\"uri\": \"" + volume.file("s") + "\"}"))
                    .contains("is a spare already");
            String uuid = volume.state().path("spares").path(0).path("uuid").asString();
            assertThat(volume.change("remove", "{\"uri\": \"" + uuid + "\"}").path("spares"))
                    .isEmpty();
            JsonNode grown = volume.change("grow", "{\"uri\": \"" + volume.file("m2")
                    + ServedVolume.SIZE + "\"}");
            assertThat(slot(grown, 2, "uri")).isEqualTo(volume.file("m2"));
            assertThat(slot(volume.awaitClean(), 2, "state")).isEqualTo("active");
        }
    }

    @Test
    void shouldScrubAndRepair() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            try (var member = FileChannel.open(volume.file(1), StandardOpenOption.WRITE)) {
                member.write(ByteBuffer.wrap(new byte[]{1, 2, 3}), 3 << 20);
            }
            JsonNode looked = volume.scrub("");
            assertThat(looked.path("clean").asBoolean()).isFalse();
            assertThat(looked.path("mismatches").asLong()).isPositive();
            assertThat(volume.scrub("{\"repair\": true, \"bytesPerSecond\": 0}")
                    .path("repairing").asBoolean()).isTrue();
            assertThat(volume.scrub("{}").path("clean").asBoolean()).isTrue();
        }
    }

    @Test
    void shouldLimitAndCancelAScrub() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            var _ = volume.change("scrub", "{\"bytesPerSecond\": 4096}"); // takes minutes
            JsonNode scan = volume.await(state -> !state.path("walks").isEmpty()).path("walks")
                    .path(0);
            assertThat(scan.path("kind").asString()).isEqualTo("scrub");
            assertThat(volume.send("DELETE", volume.path + "/scrub", "").statusCode())
                    .isEqualTo(200);
            JsonNode result = volume.await(state -> state.path("walks").isEmpty())
                    .path("lastScrub");
            assertThat(result.path("stripes").asLong()).isLessThan(64);
            assertThat(ServedVolume.json(volume.send("DELETE", volume.path + "/scrub", ""))
                    .path("walks")).isEmpty();
        }
    }

    @Test
    void shouldFindVolumesByNameAndListThem() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID5, 3)) {
            String uuid = volume.state().path("uuid").asString();
            for (String name : new String[]{"vol", uuid, "raid5%3Avol"}) {
                assertThat(ServedVolume.json(volume.send("GET", "/v1/volumes/" + name, ""))
                        .path("uuid").asString()).isEqualTo(uuid);
            }
            for (String name : new String[]{"raid1:vol", "other", "raid5%3Avol%2F"}) {
                for (String method : new String[]{"GET", "POST"}) {
                    HttpResponse<String> none = volume.send(method, "/v1/volumes/" + name
                            + (method.equals("POST") ? "/scrub" : ""), "");
                    assertThat(none.statusCode()).as(name).isEqualTo(404);
                }
            }
            assertThat(volume.send("GET", "/v1/volumes/other", "").body())
                    .contains("no volume of this name is served; served are: raid5:vol");
        }
    }

    @Test
    void shouldRefuseWhatTheLevelCannotDo() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID0, 2)) {
            assertThat(volume.refused(409, "scrub", "")).contains("has no redundancy to compare");
            assertThat(volume.refused(409, "fail", "{\"slot\": 1}"))
                    .contains("cannot do without slot 1");
            assertThat(volume.refused(409, "fail", "{\"slot\": 7}")).contains("has no slot 7");
            assertThat(volume.refused(409, "grow", "{\"uri\": \"" + volume.file("m1") + "\"}"))
                    .contains("a member or a spare already");
            assertThat(volume.refused(400, "add", "{\"uri\": \"" + volume.file("none") + "\"}"))
                    .contains("none");
            assertThat(Files.exists(folder.resolve("none"))).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "fail    | {}                                   | 'slot' of the body",
            "fail    | {\"slot\": 1.5}                      | 'slot' of the body",
            "fail    | {\"slot\": true}                     | 'slot' of the body",
            "fail    | {\"slot\": \"\"}                     | not specified",
            "fail    | {\"slot\": 1, \"slot\": 0}           | no JSON object",
            "fail    | {\"slot\": 1, \"force\": true}       | known are slot",
            "fail    | [1]                                  | no JSON object",
            "fail    | {\"slot\": [[[[1]]]]}                | no JSON object",
            "fail    | {\"slot\": 1                         | no JSON object",
            "fail    | {\"slot\": 1} {}                     | no JSON object",
            "add     | {}                                   | either 'slot'",
            "add     | {\"slot\": 1, \"uri\": \"file:/x\"}  | either 'slot'",
            "add     | {\"uri\": 5}                         | 'uri' of the body",
            "add     | {\"uri\": \"file:/x\\nfile:/y\"}     | control character",
            "add     | {\"uri\": \"file:x?size=4MiB\"}      | relative path",
            "add     | {\"uri\": \"verify:file:../x\"}      | relative path",
            "add     | {\"uri\": \"nope:/x\"}               | no device of scheme 'nope:'",
            "add     | {\"uri\": \"file:/x?lock=no\"}       | without its lock",
            "add     | {\"uri\": \"file:/x\", \"force\": 1} | 'force' of the body",
            "remove  | {\"slot\": 1}                        | known are uri",
            "replace | {\"slot\": 1}                        | 'uri' of the body",
            "grow    | {\"slot\": 1}                        | known are force, uri",
            "rebuild | {\"slot\": 1}                        | takes no fields",
            "scrub   | {\"repair\": \"yes\"}                | 'repair' of the body",
            "scrub   | {\"bytesPerSecond\": 100}            | at least 4k",
            "scrub   | {\"bytesPerSecond\": -4096}          | at least 4k",
            "scrub   | {\"bytesPerSecond\": 1e40}           | 'bytesPerSecond' of the body"})
    void shouldRefuseBadBodies(String change, String body, String error) throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            assertThat(volume.refused(400, change, body)).contains(error);
            assertThat(volume.state().path("state").asString()).isEqualTo("clean");
            assertThat(volume.state().path("spares")).isEmpty();
        }
    }

    @Test
    void shouldLimitTheLengthOfBodiesAndNames() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            assertThat(volume.refused(400, "add",
                    "{\"uri\": \"file:/" + "x".repeat(5000) + "\"}"))
                    .contains("longer than 4096 characters");
            assertThat(volume.announced("add", 100_000)).startsWith("HTTP/1.1 413 ");
        }
    }

    @Test
    void shouldLimitTheChangesAtATime() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            var busy = new Api(volume.fixture.subject(), 0);
            Path socket = folder.resolve("busy.sock");
            try (var _ = Listener.start(UnixDomainSocketAddress.of(socket), busy,
                    Optional.empty(), Optional.empty())) {
                AdminClient client = AdminClient.of(socket);
                assertThatThrownBy(() -> client.post(volume.path + "/fail", Map.of("slot", 1)))
                        .hasMessageContaining("changes of volumes are in progress");
                assertThat(client.get(volume.path).path("state").asString()).isEqualTo("clean");
            }
        }
    }

    @Test
    void shouldNotRepeatSecrets() throws Exception {
        String peer = "iscsi://user%hidden@127.0.0.1/iqn.2026-11.org.lunar:x/0";
        String shown = "iscsi://user@127.0.0.1/iqn.2026-11.org.lunar:x/0";
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            assertThat(volume.refused(409, "remove", "{\"uri\": \"" + peer + "\"}"))
                    .isEqualTo(shown + " is no spare of this volume");
            assertThat(volume.refused(409, "fail", "{\"slot\": \"" + peer + "\"}"))
                    .contains(shown).doesNotContain("hidden");
            assertThat(volume.refused(400, "grow",
                    "{\"uri\": \"" + peer + "?lock=no\"}"))
                    .contains(shown).doesNotContain("hidden");
        }
    }

    @Test
    void shouldNeedTheToken() throws Exception {
        try (var volume = new ServedVolume(folder, Level.RAID1, 2)) {
            var without = volume.fixture.overTcp("a-token-of-the-test");
            for (var change : RequestedChange.Kind.values()) {
                assertThatThrownBy(() -> without.post(
                        volume.path + "/" + change.name().toLowerCase(Locale.ROOT)))
                        .hasMessageContaining("bearer token");
            }
            assertThat(volume.state().path("state").asString()).isEqualTo("clean");
        }
    }
}
