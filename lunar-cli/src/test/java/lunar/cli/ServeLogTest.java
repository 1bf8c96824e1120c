package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the log of a server process: logins and logouts, its forms and levels. */
class ServeLogTest {
    @TempDir
    Path folder;

    @Test
    void shouldWriteLoginsWithTheDateIntoAFile() throws Exception {
        var server = new ServingProcess(folder, "ram:1MiB", "--portal", "127.0.0.1:0");
        Devices.open(server.uri()).close();
        server.awaitErr("logout: ");
        server.end();
        assertThat(server.err()).containsPattern("(?m)^20\\d\\d-\\d\\d-\\d\\dT[0-9:.]+\\S+ INFO "
                + " audit: login: iqn\\S+ \\(ISID [0-9a-f]{12}\\) from 127\\.0\\.0\\.1:\\d+ to"
                + " iqn\\.2026-11\\.org\\.lunar:disk at 127\\.0\\.0\\.1:\\d+: no authentication,"
                + " header digest none, data digest none, ErrorRecoveryLevel \\d, MaxConnections")
                .containsPattern("(?m) audit: logout: .* after \\d+\\.\\d s: logged out$");
    }

    @Test
    void shouldWriteJson() throws Exception {
        var server = new ServingProcess(folder, "ram:1MiB", "--portal", "127.0.0.1:0",
                "--log-format", "json");
        Devices.open(server.uri()).close();
        server.awaitErr("logout: ");
        server.end();
        assertThat(server.err().lines().filter(line -> !line.startsWith("lunar: ")))
                .isNotEmpty().allSatisfy(line -> {
                    JsonNode event = JsonMapper.shared().readTree(line);
                    assertThat(event.path("time").asString()).startsWith("20").endsWith("Z");
                    assertThat(event.has("message")).isTrue();
                }).anySatisfy(line -> {
                    JsonNode event = JsonMapper.shared().readTree(line);
                    assertThat(event.path("logger").asString()).isEqualTo("lunar.audit");
                    assertThat(event.path("level").asString()).isEqualTo("info");
                    assertThat(event.path("message").asString()).startsWith("login: ");
                });
    }

    @Test
    void shouldWriteWarningsOfTheRunningServerToTheLog() throws Exception {
        String text = "portals = ['127.0.0.1:0']\nluns = ['ram:1MiB']\n";
        Path config = Files.writeString(folder.resolve("lunar.toml"), text);
        var signals = List.of("env", "--default-signal=HUP"); // where nohup started the build
        var server = new ServingProcess(folder, signals, "--config", config.toString(),
                "--log-format", "json");
        Files.writeString(config, text + "[limits]\nconnections = 7\n");
        hangUp(server);
        server.awaitErr("next start");
        Files.writeString(config, "lun = []\n");
        hangUp(server);
        server.awaitErr("not reloaded");
        server.end();
        assertThat(server.err().lines().filter(line -> line.contains("not reloaded")))
                .singleElement().satisfies(line -> {
                    JsonNode event = JsonMapper.shared().readTree(line);
                    assertThat(event.path("level").asString()).isEqualTo("error");
                    assertThat(event.path("message").asString()).endsWith("configuration");
                });
        assertThat(server.err().lines().filter(line -> line.contains("next start")))
                .singleElement().satisfies(line -> {
                    JsonNode event = JsonMapper.shared().readTree(line);
                    assertThat(event.path("logger").asString()).isEqualTo("lunar.server");
                    assertThat(event.path("level").asString()).isEqualTo("warn");
                });
    }

    private static void hangUp(ServingProcess server) throws Exception {
        Process kill = new ProcessBuilder("kill", "-HUP", Long.toString(server.pid())).start();
        assertThat(kill.waitFor(120, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldLeaveOutWhatIsBelowTheLevel() throws Exception {
        var server = new ServingProcess(folder, "ram:1MiB", "--portal", "127.0.0.1:0",
                "--log-level", "warn", "--iqn", "iqn.2026-11.org.example:quiet");
        Devices.open(server.uri()).close();
        server.end();
        assertThat(server.err()).isEmpty();
    }

    @Test
    void shouldIgnoreTheJournalOfAnotherStream() throws Exception {
        var server = new ServingProcess(folder.resolve("err.txt"),
                Map.of("JOURNAL_STREAM", "1:2"), "ram:1MiB", "--portal", "127.0.0.1:0");
        server.end();
        assertThat(server.err()).startsWith("lunar: ").doesNotContain("<4>");
    }
}
