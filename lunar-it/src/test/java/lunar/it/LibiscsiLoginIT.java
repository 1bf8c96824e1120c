package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.Secret;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests libiscsi's logins to Lunar's target: one-way and mutual CHAP, header digests, unknown target names. */
class LibiscsiLoginIT {
    private static final String USER = "alice";
    private static final String SECRET = "wonderland-2026";
    private static final String TARGET_USER = "mirror";
    private static final String TARGET_SECRET = "looking-glass-26";
    private static final ChapPolicy CHAP = ChapPolicy
            .of(new ChapCredentials(USER, Secret.of(SECRET)))
            .withOwn(new ChapCredentials(TARGET_USER, Secret.of(TARGET_SECRET)));

    @BeforeEach
    void needTools() { Peer.assume("iscsi-inq", "iscsi-ls", "qemu-io"); }

    private static ServedTarget withChap() throws IOException {
        return ServedTarget.of(spec -> spec.withChap(CHAP), "ram:1MiB");
    }

    private static void assertServed(Peer.Result result) {
        assertThat(result.succeeded().lines()).contains("Vendor:LUNAR");
    }

    private static void assertRefused(Peer.Result result, String why) {
        assertThat(result.status()).as(result.toString()).isNotZero();
        assertThat(result.output()).contains(why);
    }

    @Test
    void shouldAdmitRightSecret() throws Exception {
        try (ServedTarget target = withChap()) {
            assertServed(Peer.run("iscsi-inq", target.url(USER, SECRET, 0)));
        }
    }

    @Test
    void shouldRejectWrongSecretUnknownUserAndNoUser() throws Exception {
        try (ServedTarget target = withChap()) {
            assertRefused(Peer.run("iscsi-inq", target.url(USER, "wonderland-2027", 0)),
                    "Authentication failure");
            assertRefused(Peer.run("iscsi-inq", target.url("eve", SECRET, 0)),
                    "Authentication failure");
            assertRefused(Peer.run("iscsi-inq", target.url(0)), "Authentication failure");
            assertThat(target.server().sessionCount()).isZero();
        }
    }

    @Test
    void shouldProveItselfInMutualChap() throws Exception {
        try (ServedTarget target = withChap()) {
            assertServed(Peer.run("iscsi-inq", target.url(USER, SECRET, 0) + "?target_user="
                    + TARGET_USER + "&target_password=" + TARGET_SECRET));
            assertRefused(Peer.run("iscsi-inq", target.url(USER, SECRET, 0) + "?target_user="
                    + TARGET_USER + "&target_password=another-glass-26"),
                    "Invalid CHAP_R response from the target");
        }
    }

    @Test
    void shouldReportNamesToAllUnlessDiscoveryRequiresChap() throws Exception {
        try (ServedTarget open = withChap();
                ServedTarget closed = ServedTarget.of(spec -> spec.withChap(CHAP),
                        server -> server.discoveryChap(CHAP), "ram:1MiB")) {
            assertThat(Peer.run("iscsi-ls", open.portalUrl()).succeeded().output())
                    .contains(ServedTarget.NAME);
            assertRefused(Peer.run("iscsi-ls", closed.portalUrl()), "Authentication failure");
            assertThat(
                    Peer.run("iscsi-ls", "iscsi://" + USER + "%" + SECRET + "@" + closed.portal())
                            .succeeded().output())
                    .contains(ServedTarget.NAME);
        }
    }

    @Test
    void shouldRejectUnknownTarget() throws Exception {
        try (ServedTarget target = ServedTarget.of("ram:1MiB")) {
            assertRefused(
                    Peer.run("iscsi-inq", target.portalUrl() + "/iqn.2026-11.org.lunar:none/0"),
                    "Target not found(515)");
        }
    }

    @Test
    void shouldAgreeOnHeaderDigest() throws Exception {
        try (ServedTarget target = ServedTarget.of(spec -> spec,
                server -> server.offer(
                        Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C)),
                "ram:8MiB")) {
            // libiscsi 1.19 offers "None,CRC32C", whatever the URL says; QEMU can offer each alone.
            assertServed(Peer.run("iscsi-inq", target.url(0) + "?header_digest=crc32c"));
            String lun = "driver=iscsi,transport=tcp,portal=" + target.portal() + ",target="
                    + ServedTarget.NAME + ",lun=0,header-digest=";
            Peer.Result io = Peer.run("qemu-io", "--image-opts", "-c", "write -P 23 1M 3M", "-c",
                    "read -P 23 1M 3M", "-c", "read -P 0 0 1M", lun + "crc32c").succeeded();
            assertThat(io.output()).contains("read 3145728/3145728")
                    .doesNotContain("verification failed");
            assertThat(
                    Peer.run("qemu-io", "--image-opts", "-c", "read 0 4k", lun + "none").status())
                    .isNotZero();
        }
    }
}
