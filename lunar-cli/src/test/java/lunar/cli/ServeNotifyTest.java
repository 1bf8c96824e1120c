package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import lunar.cli.systemd.NotifyReceiver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what {@code lunar serve} reports to a service manager. */
class ServeNotifyTest {
    @TempDir
    Path folder;

    @Test
    void shouldReportReadinessReloadsAndItsEnd() throws Throwable {
        Path socket = folder.resolve("notify");
        Path config = folder.resolve("lunar.toml");
        String first = "portals = ['127.0.0.1:0']\n"
                + "[[target]]\niqn = 'iqn.2026-11.org.example:a'\nluns = ['ram:1MiB']\n";
        Files.writeString(config, first);
        try (var receiver = new NotifyReceiver(socket.toString())) {
            // Fed more often, the watchdog could fill the socket's queue before the other messages.
            var server = new ServingProcess(folder.resolve("err.txt"),
                    Map.of("NOTIFY_SOCKET", socket.toString(), "WATCHDOG_USEC", "60000000"),
                    "--config", config.toString());
            try {
                String portal = server.uri().split("/")[2];
                assertThat(receiver.next()).isEqualTo("STATUS=starting");
                assertThat(receiver.next()).isEqualTo(
                        "READY=1\nSTATUS=serving 1 LUN of 1 target on " + portal);
                assertThat(receiver.next()).isEqualTo("WATCHDOG=1");
                Files.writeString(config, first.replace("'ram:1MiB'", "'ram:1MiB', 'ram:2MiB'"));
                server.hangUp();
                assertThat(receiver.nextChange()).startsWith("RELOADING=1\nMONOTONIC_USEC=");
                assertThat(receiver.nextChange()).isEqualTo(
                        "READY=1\nSTATUS=serving 2 LUNs of 1 target on " + portal);
                Files.writeString(config, "lun = []\n");
                server.hangUp();
                assertThat(receiver.nextChange()).startsWith("RELOADING=1");
                assertThat(receiver.nextChange()).startsWith("READY=1\nSTATUS=serving 2 LUNs");
                server.end();
                assertThat(receiver.nextChange()).isEqualTo("STOPPING=1\nSTATUS=stopping");
            } finally {
                server.kill();
            }
        }
    }
}
