package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a server with a config file through libiscsi and QEMU: access control, portals, and changes while sessions are
 * open.
 */
class ConfiguredServerIT {
    private static final String TARGET = "iqn.2026-11.org.lunar:shared";
    private static final String OPEN = "iqn.2026-11.org.lunar:open";
    private static final String ONE = "iqn.2026-11.org.host:one";
    private static final String TWO = "iqn.2026-11.org.host:two";
    private static final String STRANGER = "iqn.2026-11.org.host:stranger";
    private static final String SHARED = """
            portals = ["127.0.0.1:0"]

            [[target]]
            iqn = "iqn.2026-11.org.lunar:shared"
            luns = ["ram:8MiB", { lun = 7, uri = "ram:16MiB" }]

            [[target.initiator]]
            name = "iqn.2026-11.org.host:one"
            luns = { 0 = 7 }
            read-only = true

            [[target.initiator]]
            name = "iqn.2026-11.org.host:two"

            [[target]]
            iqn = "iqn.2026-11.org.lunar:open"
            luns = ["ram:4MiB"]
            """;

    @TempDir
    Path folder;

    @BeforeEach
    void needTools() { Peer.assume("iscsi-inq", "iscsi-ls", "iscsi-readcapacity16", "qemu-io"); }

    private static String capacity(String initiator, String url) throws Exception {
        return Peer.run("iscsi-readcapacity16", "-s", "-i", initiator, url).succeeded().output()
                .strip();
    }

    private static Peer.Result io(String initiator, String portal, int lun, boolean readOnly,
            String... commands) throws Exception {
        return Peer.run(ioLine(initiator, portal, lun, readOnly, List.of(commands)));
    }

    private static String[] ioLine(String initiator, String portal, int lun, boolean readOnly,
            List<String> commands) {
        var line = new ArrayList<>(List.of("qemu-io", "--image-opts"));
        if (readOnly) {
            line.add("-r");
        }
        for (String command : commands) {
            line.add("-c");
            line.add(command);
        }
        line.add("driver=iscsi,transport=tcp,portal=" + portal + ",target=" + TARGET + ",lun="
                + lun + ",initiator-name=" + initiator);
        return line.toArray(String[]::new);
    }

    private static void assertGood(Peer.Result result) {
        assertThat(result.succeeded().output()).doesNotContain("verification failed")
                .doesNotContain("failed:").doesNotContain("error");
    }

    @Test
    void shouldReportToAnInitiatorItsTargetsOnly() throws Exception {
        try (var server = new ServeProcess(folder, SHARED, 3)) {
            String portal = "iscsi://" + server.portal(0);
            assertThat(Peer.run("iscsi-ls", "-i", STRANGER, portal).succeeded().output())
                    .contains(OPEN).doesNotContain(TARGET);
            assertThat(Peer.run("iscsi-ls", "-i", TWO, portal).succeeded().output())
                    .contains(OPEN, TARGET);
            Peer.Result refused = Peer.run("iscsi-inq", "-i", STRANGER,
                    server.url(0, TARGET, 0));
            assertThat(refused.status()).isNotZero();
            assertThat(refused.output()).contains("514"); // 0202h, not allowed at this target
        }
    }

    @Test
    void shouldShowEachInitiatorItsOwnLuns() throws Exception {
        try (var server = new ServeProcess(folder, SHARED, 3)) {
            // iscsi-ls takes the last block for the number of blocks, so a LUN seems a mebibyte smaller.
            assertThat(Peer.run("iscsi-ls", "-s", "-i", ONE, "iscsi://" + server.portal(0))
                    .succeeded().lines()).contains("Lun:0    Type:DIRECT_ACCESS (Size:15M)")
                    .noneMatch(line -> line.startsWith("Lun:7"));
            assertThat(capacity(ONE, server.url(0, TARGET, 0))).isEqualTo("16777216");
            assertThat(capacity(TWO, server.url(0, TARGET, 0))).isEqualTo("8388608");
            assertGood(io(TWO, server.portal(0), 7, false, "write -P 77 1M 64k", "flush"));
            assertGood(io(ONE, server.portal(0), 0, true, "read -P 77 1M 64k", "read -P 0 0 1M"));
            Peer.Result write = io(ONE, server.portal(0), 0, false, "write -P 78 1M 64k");
            assertThat(write.output()).containsIgnoringCase("write protected");
            assertGood(io(TWO, server.portal(0), 7, false, "read -P 77 1M 64k"));
        }
    }

    @Test
    void shouldReportTheAddressThatInitiatorsReach() throws Exception {
        String text = """
                portals = ["127.0.0.1:0"]
                [[portal-group]]
                tag = 5
                portals = [{ listen = "127.0.0.1:0", advertise = "san.example.org:3261" }]
                [[target]]
                iqn = "iqn.2026-11.org.lunar:open"
                groups = [5]
                luns = ["ram:1MiB"]
                """;
        try (var server = new ServeProcess(folder, text, 1)) {
            for (int portal = 0; portal < 2; portal++) {
                assertThat(Peer.run("iscsi-ls", "iscsi://" + server.portal(portal)).succeeded()
                        .lines())
                        .containsExactly("Target:" + OPEN + " Portal:san.example.org:3261,5");
            }
            assertThat(Peer.run("iscsi-inq", server.url(0, OPEN, 0)).status()).isNotZero();
            Peer.run("iscsi-inq", server.url(1, OPEN, 0)).succeeded();
        }
    }

    @Test
    void shouldSendInitiatorsToAnotherPortal() throws Exception {
        String text = """
                [[portal-group]]
                tag = 1
                portals = ["127.0.0.1:0"]
                MOVED
                [[portal-group]]
                tag = 2
                portals = ["127.0.0.2:0"]
                [[target]]
                iqn = "iqn.2026-11.org.lunar:open"
                luns = ["ram:1MiB"]
                """;
        try (var server = new ServeProcess(folder, text.replace("MOVED", ""), 1)) {
            String port = "[" + OPEN + ",t,0x000";
            String[] page = {"iscsi-inq", "-e", "1", "-c", "131", server.url(0, OPEN, 0)};
            assertThat(Peer.run(page).succeeded().output()).contains(port + "1]");
            server.reload(text.replace("MOVED", "moved = '" + server.portal(1) + "'"));
            assertThat(Peer.run(page).succeeded().output()).as("it came by the other portal")
                    .contains(port + "2]");
            server.reload(text.replace("MOVED", ""));
            assertThat(Peer.run(page).succeeded().output()).contains(port + "1]");
        }
    }

    /** QEMU writes and reads the same blocks repeatedly, while LUN 0 grows and LUN 7 is added and removed. */
    @Test
    void shouldGrowAndChangeLunsUnderQemu() throws Exception {
        try (var server = new ServeProcess(folder, SHARED, 3)) {
            var commands = new ArrayList<String>();
            for (int i = 0; i < 3000; i++) {
                String block = i % 64 * 64 + "k 64k";
                commands.add("write -P " + (i % 255 + 1) + " " + block);
                commands.add("read -P " + (i % 255 + 1) + " " + block);
            }
            int size = 8;
            try (Peer peer = Peer.start(
                    ioLine(TWO, server.portal(0), 0, false, commands))) {
                do {
                    String grown = SHARED.replace("ram:8MiB", "ram:" + ++size + "MiB");
                    assertThat(server.reload(grown.replace("lun = 7", "lun = 8").replace("0 = 7",
                            "0 = 8"))).contains("no longer serving " + TARGET + " lun 7 ram:16MiB",
                                    "resized " + TARGET + " lun 0 ram:" + size + "MiB from "
                                            + (size - 1) + "MiB to " + size + "MiB");
                    assertThat(server.reload(grown)).contains(
                            "no longer serving " + TARGET + " lun 8 ram:16MiB").hasSize(3);
                } while (peer.isAlive());
                assertGood(peer.await(Duration.ofMinutes(3)));
            }
            assertThat(capacity(TWO, server.url(0, TARGET, 0)))
                    .isEqualTo(Long.toString((long) size << 20));
            String end = (size * 1024 - 64) + "k 64k";
            assertGood(io(TWO, server.portal(0), 0, false, "write -P 3 " + end,
                    "read -P 3 " + end));
        }
    }
}
