package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.admin.AdminOptions;
import lunar.admin.AdminServer;
import lunar.admin.report.VolumeReport;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.service.RunningVolume;
import lunar.server.ServerPlan;
import lunar.server.StorageServer;
import lunar.testkit.FreePorts;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the dashboard in a browser, with a server under load, a hostile initiator name and a volume that degrades. */
@Timeout(600)
class DashboardIT {
    private static final String IQN = "iqn.2026-11.org.lunar:shown";
    private static final String HOSTILE = "iqn.2026-11.org.host:<img/src=x/onerror=alert(1)>&lt;b>";
    private static final String TOKEN = "a-token-of-the-dashboard";
    private static final int ENTER = 13;
    private static final int TAB = 9;
    /** The page first asks without a token. */
    private static final String UNAUTHORIZED = "401 (Unauthorized)";

    @TempDir
    Path folder;

    private final AtomicBoolean enough = new AtomicBoolean();
    private StorageServer server;
    private AdminServer admin;

    @BeforeEach
    void serve() throws Exception {
        Peer.assume("chromium");
        server = StorageServer.start(ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of("ram:8MiB",
                        "file:" + folder.resolve("disk.img") + "?size=64MiB", volume())))));
        Path token = Files.writeString(folder.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        admin = listen(FreePorts.one());
    }

    @AfterEach
    void stop() throws Exception {
        if (server != null) {
            admin.close();
            server.close();
        }
    }

    /** Creates a volume of two members, and returns its URI. */
    private String volume() throws Exception {
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < 2; i++) {
            String uri = "file:" + folder.resolve("m" + i) + "?size=8MiB";
            members.add(new Creation.Member(uri, UUID.randomUUID(), Devices.open(uri)));
        }
        Creation.create(Creation.Wish.of(UUID.randomUUID(), "vol", 0, Level.RAID1,
                UUID.randomUUID()), members, false);
        for (Creation.Member one : members) {
            one.device().close();
        }
        return "raid1:vol?member=file:" + folder.resolve("m0") + "&member=file:"
                + folder.resolve("m1");
    }

    private AdminServer listen(int port) throws Exception {
        return AdminServer.start(new AdminOptions(Optional.empty(),
                Optional.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)),
                Optional.of(folder.resolve("token")), false),
                new FixedSubject(server));
    }

    private BlockDevice lun(int lun, String initiator) throws Exception {
        return Devices.open("iscsi://127.0.0.1:" + server.portals().getFirst().getPort() + "/" + IQN
                + "/" + lun + "?initiator="
                + URLEncoder.encode(initiator, StandardCharsets.UTF_8));
    }

    @Test
    void shouldShowAServerUnderLoad() throws Exception {
        try (BlockDevice disk = lun(0, HOSTILE);
                var browser = new Chromium(Files.createDirectory(folder.resolve("browser")))) {
            Future<Integer> work = VerifiedWork.start(disk, 0, 2048, Seed.next(), enough);
            try {
                int port = admin.port().orElseThrow();
                browser.show(1280, 900, "dark");
                browser.open("http://127.0.0.1:" + port + "/");
                logIn(browser);
                assertFigures(browser);
                assertFits(browser);
                assertEvents(browser);
                assertKeyboard(browser);
                assertThat(browser.errors()).allMatch(one -> one.contains(UNAUTHORIZED));
                assertReconnects(browser, port);
                assertPausesAndForgets(browser);
            } finally {
                enough.set(true);
            }
            assertThat(work.get()).isPositive();
        }
    }

    private static void logIn(Chromium browser) throws Exception {
        String focus = "document.activeElement.id === 'token'";
        browser.await(focus);
        assertThat(browser.isShown("#board")).isFalse();
        browser.type("a-token-of-another-server");
        browser.press("Enter", ENTER);
        browser.await("document.getElementById('login-error').innerText"
                + ".includes('does not accept') && " + focus);
        browser.type(TOKEN);
        browser.press("Enter", ENTER);
        browser.await("!document.getElementById('board').hidden");
        assertThat(browser.isShown("#login")).isFalse();
        assertThat(browser.evaluate("location.href + document.cookie + localStorage.length")
                .asString("")).doesNotContain(TOKEN).endsWith("/0");
        assertThat(browser.evaluate("sessionStorage.getItem('lunar-token')").asString(""))
                .isEqualTo(TOKEN);
    }

    private static void assertFigures(Chromium browser) throws Exception {
        browser.await("document.querySelectorAll('#luns tbody tr').length === 3");
        browser.await("document.querySelector('#volumes .badge')?.innerText === 'clean'");
        browser.await("document.getElementById('health').innerText === 'All is well'");
        assertThat(browser.text("#facts")).contains("LUNs\n3", "Sessions\n1");
        assertThat(browser.text("#volumes")).contains("raid1:vol", "clean", "slot 0", "active");
        assertThat(browser.text("#sessions tbody th")).isEqualTo(HOSTILE);
        assertThat(browser.evaluate("document.querySelectorAll('main img, main b').length")
                .asInt()).isZero();
        for (String chart : List.of("throughput", "iops", "latency")) {
            browser.await("document.querySelector('#" + chart
                    + " .line.read').getAttribute('d').split('L').length > 2");
        }
        browser.await("/^[\\d.]+ [KM]iB\\/s$/.test("
                + "document.querySelector('#throughput .value').innerText)");
        browser.await("document.getElementById('throughput-summary').innerText"
                + ".includes('Read: now ')");
        browser.await("Number(document.querySelector('#luns tbody td[data-label=\"Read IOPS\"]')"
                + ".innerText.replace(',', '')) > 0");
    }

    /** Checks that nothing is wider than the window. */
    private static void assertFits(Chromium browser) throws Exception {
        for (int width : new int[]{400, 899, 1000, 1150, 1280, 2200, 3840}) {
            for (String scheme : List.of("light", "dark")) {
                browser.show(width, 900, scheme);
                assertThat(browser.evaluate("document.documentElement.scrollWidth"
                        + " - document.documentElement.clientWidth").asInt())
                        .as("at " + width).isZero();
                assertThat(browser.screenshot()).hasSizeGreaterThan(10_000);
            }
        }
        browser.show(1280, 900, "light");
    }

    private void assertEvents(Chromium browser) throws Exception {
        try (BlockDevice _ = lun(1, "iqn.2026-11.org.host:second")) {
            browser.await("document.getElementById('events').innerText"
                    + ".includes('opened: iqn.2026-11.org.host:second')");
        }
        browser.await("document.getElementById('events').innerText"
                + ".includes('ended: iqn.2026-11.org.host:second')");
        RunningVolume volume = VolumeReport.running(server).getFirst();
        volume.fail(1);
        browser.await("document.getElementById('health').innerText"
                + ".includes('raid1:vol is degraded')");
        assertThat(browser.text("#health")).startsWith("1 problem");
        assertThat(browser.text("#events")).contains("raid1:vol: clean, now degraded",
                "raid1:vol slot 1: active, now failed", "Problem: raid1:vol is degraded");
        assertThat(browser.text(".member.bad")).contains("slot 1", "failed");
    }

    /** Sorts a table and reads a chart without a pointer. */
    private static void assertKeyboard(Chromium browser) throws Exception {
        browser.evaluate("document.querySelector('#luns th .sort').focus()");
        browser.press("Enter", ENTER);
        browser.await("document.querySelector('#luns th').getAttribute('aria-sort')"
                + " === 'ascending'");
        browser.press("Tab", TAB);
        browser.await("document.activeElement.innerText === 'LUN'");
        browser.evaluate("document.querySelector('#iops svg').focus()");
        browser.press("ArrowLeft", 37);
        browser.await("/^[\\d:]{8}$/.test(document.querySelector('#latency .chart-time')"
                + ".innerText)");
        browser.press("Escape", 27);
        browser.await("document.querySelector('#latency .chart-time').innerText === ''");
    }

    private void assertReconnects(Chromium browser, int port) throws Exception {
        admin.close();
        browser.await("/does not answer; next try in \\d+ s/"
                + ".test(document.getElementById('link').innerText)");
        assertThat(browser.text("#health")).startsWith("Unknown").contains("All values are of");
        admin = listen(port);
        browser.await("document.getElementById('link').innerText === 'Live'");
        assertThat(browser.text("#events")).contains("answers again");
    }

    private static void assertPausesAndForgets(Chromium browser) throws Exception {
        browser.evaluate("document.getElementById('pause').click()");
        browser.await("document.getElementById('link').innerText === 'Paused'");
        String uptime = browser.text("#identity");
        Thread.sleep(2500); // longer than between two polls
        assertThat(browser.text("#identity")).isEqualTo(uptime);
        browser.evaluate("document.getElementById('pause').click()");
        browser.await("document.getElementById('link').innerText === 'Live'");
        browser.evaluate("document.getElementById('forget').click()");
        browser.await("document.activeElement?.id === 'token'");
        assertThat(browser.evaluate("sessionStorage.length").asInt()).isZero();
        assertThat(browser.evaluate("document.body.textContent").asString(""))
                .doesNotContain(IQN, HOSTILE);
    }
}
