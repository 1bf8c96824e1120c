package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Secret;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests access control: logins by target and portal, and the LUNs of each initiator. */
class AccessTest {
    private static final String OPEN = "iqn.2026-11.org.lunar:open";
    private static final String CLOSED = "iqn.2026-11.org.lunar:closed";
    private static final String ONE = "iqn.2026-11.org.host:one";
    private static final String TWO = "iqn.2026-11.org.host:two";
    private static final int WRITE_PROTECTED = 0x07_27_00;
    private static final int NO_UNIT = 0x05_25_00;
    private static final int RESERVED = 0x18;

    private final BlockDevice first = open("ram:1MiB");
    private final BlockDevice second = open("ram:2MiB");

    private static BlockDevice open(String uri) {
        try {
            return Devices.open(uri);
        } catch (IOException e) {
            throw new IllegalStateException(uri, e);
        }
    }

    @AfterEach
    void close() throws IOException {
        first.close();
        second.close();
    }

    private static PortalSpec portal(int group) {
        return PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withGroup(group);
    }

    private TargetServer.Builder server(TargetSpec... targets) {
        var builder = TargetFixture.builder().portal(portal(1)).loops(2);
        for (TargetSpec target : targets) {
            builder.target(target);
        }
        return builder;
    }

    private static int status(TargetServer server, String initiator, String target)
            throws IOException {
        try (var raw = new RawInitiator(server)) {
            return raw.loginAs(initiator, target).status();
        }
    }

    private static String discovered(int port, String initiator, String which)
            throws IOException {
        try (var raw = new RawInitiator(port)) {
            assertThat(raw.loginWith(RawInitiator.isid(1), "InitiatorName=" + initiator,
                    "SessionType=Discovery").status()).isZero();
            return raw.sendTargets(which);
        }
    }

    private static RawInitiator ready(TargetServer server, String initiator, String target)
            throws IOException {
        var raw = new RawInitiator(server);
        assertThat(raw.loginAs(initiator, target).status()).isZero();
        raw.takeAttentions();
        return raw;
    }

    /** Returns the LUNs that REPORT LUNS reports. */
    static List<Integer> luns(RawInitiator raw) throws IOException {
        byte[] data = raw.command(new byte[]{(byte) 0xa0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, 256)
                .data();
        var luns = new java.util.ArrayList<Integer>();
        for (int at = 8; at < 8 + data[3]; at += 8) {
            luns.add((data[at] & 0x3f) << 8 | data[at + 1] & 0xff);
        }
        return luns;
    }

    @Test
    void shouldAdmitOnlyListedInitiators() throws Exception {
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first),
                TargetSpec.of(CLOSED).withLun(0, second).withInitiator(InitiatorSpec.of(ONE)))
                .start()) {
            assertThat(status(server, TWO, OPEN)).isZero();
            assertThat(status(server, ONE, CLOSED)).isZero();
            assertThat(status(server, ONE.replace("one", "ONE"), CLOSED)).isZero();
            assertThat(status(server, TWO, CLOSED)).isEqualTo(0x0202);
            assertThat(status(server, ONE, CLOSED + "x")).isEqualTo(0x0203);
        }
    }

    @Test
    void shouldNotPermitInitiatorsWithoutAllLunsToResetTheTarget() throws Exception {
        String all = "iqn.2026-11.org.host:all";
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first).withLun(1, second)
                .withInitiator(InitiatorSpec.of(ONE).withLuns(new TreeMap<>(Map.of(0, 0))))
                .withInitiator(InitiatorSpec.of(TWO).withLuns(new TreeMap<>())
                        .withReadOnly(true))
                .withInitiator(InitiatorSpec.of(all))).start();
                var some = ready(server, ONE, OPEN);
                var none = new RawInitiator(server);
                var whole = ready(server, all, OPEN)) {
            assertThat(none.loginAs(TWO, OPEN).status()).isZero();
            for (RawInitiator sender : List.of(some, none)) {
                assertThat(
                        sender.managed(sender.manage(TaskManagementFunction.TARGET_COLD_RESET, -1)))
                        .isEqualTo(TaskManagementResponseCode.AUTHORIZATION_FAILED.code());
            }
            whole.assertSilent();
            assertThat(whole.managed(whole.manage(TaskManagementFunction.TARGET_COLD_RESET, -1)))
                    .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE.code());
            assertThat(some.isClosedByTarget()).isTrue();
        }
    }

    @Test
    void shouldShowAnInitiatorItsTargetsAndLuns() throws Exception {
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first),
                TargetSpec.of(CLOSED).withLun(0, second).withInitiator(InitiatorSpec.of(ONE)))
                .start()) {
            int port = server.portals().getFirst().getPort();
            assertThat(discovered(port, ONE, "All")).contains(OPEN, CLOSED);
            assertThat(discovered(port, TWO, "All")).contains(OPEN).doesNotContain(CLOSED);
            assertThat(discovered(port, TWO, CLOSED)).isEmpty();
            assertThat(discovered(port, ONE, CLOSED)).isEqualTo("TargetName=" + CLOSED
                    + "\nTargetAddress=127.0.0.1:" + port + ",1\n");
            try (var raw = ready(server, ONE, OPEN)) {
                assertThat(raw.sendTargets("")).contains(OPEN).doesNotContain(CLOSED);
                assertThat(raw.sendTargets(CLOSED)).isEmpty();
            }
        }
    }

    @Test
    void shouldReportEveryPortalOfTheTargetsGroupsUnderTheAddressThatInitiatorsReach()
            throws Exception {
        try (var server = TargetFixture.builder().portal(portal(1)).portal(portal(2))
                .portal(portal(2)
                        .withAdvertised(new TargetAddress("san.example", 860, OptionalInt.empty())))
                .portal(PortalSpec.of(new InetSocketAddress("0.0.0.0", 0)).withGroup(3))
                .target(TargetSpec.of(OPEN).withLun(0, first))
                .target(TargetSpec.of(CLOSED).withLun(0, second).withGroups(List.of(2))).start()) {
            List<Integer> ports = server.portals().stream().map(InetSocketAddress::getPort)
                    .toList();
            assertThat(discovered(ports.get(3), ONE, OPEN).lines()).containsExactly(
                    "TargetName=" + OPEN,
                    "TargetAddress=127.0.0.1:" + ports.get(3) + ",3",
                    "TargetAddress=127.0.0.1:" + ports.get(0) + ",1",
                    "TargetAddress=127.0.0.1:" + ports.get(1) + ",2",
                    "TargetAddress=san.example:860,2");
            assertThat(discovered(ports.get(0), ONE, CLOSED).lines()).containsExactly(
                    "TargetName=" + CLOSED,
                    "TargetAddress=127.0.0.1:" + ports.get(1) + ",2",
                    "TargetAddress=san.example:860,2");
            try (var elsewhere = new RawInitiator(ports.get(0));
                    var there = new RawInitiator(ports.get(1))) {
                assertThat(elsewhere.loginAs(ONE, CLOSED).status()).isEqualTo(0x0203);
                assertThat(there.loginAs(ONE, CLOSED).keys()).contains("TargetPortalGroupTag=2\0");
            }
        }
    }

    @Test
    void shouldKeepSessionsOfTheSameInitiatorPortInSeveralGroupsApart() throws Exception {
        try (var server = TargetFixture.builder().portal(portal(7)).portal(portal(9))
                .target(TargetSpec.of(OPEN).withLun(0, first)).start();
                var seven = new RawInitiator(server.portals().get(0).getPort());
                var nine = new RawInitiator(server.portals().get(1).getPort())) {
            assertThat(seven.loginAs(ONE, OPEN).status()).isZero();
            assertThat(nine.loginAs(ONE, OPEN).status()).isZero();
            seven.takeAttentions();
            assertThat(server.sessionCount()).isEqualTo(2);
            byte[] identification = nine
                    .command(new byte[]{0x12, 1, (byte) 0x83, 0, (byte) 252, 0}, 252).data();
            assertThat(new String(identification, java.nio.charset.StandardCharsets.ISO_8859_1))
                    .contains(OPEN + ",t,0x0009");
        }
    }

    @Test
    void shouldMapTheUnitsOfEachInitiatorToItsOwnLuns() throws Exception {
        var map = new TreeMap<>(Map.of(0, 5, 3, 1));
        try (var server = server(TargetSpec.of(OPEN).withLun(1, first).withLun(5, second)
                .withInitiator(InitiatorSpec.of(ONE).withLuns(map))
                .withInitiator(InitiatorSpec.of(InitiatorSpec.ANYBODY))).start();
                var one = ready(server, ONE, OPEN);
                var two = new RawInitiator(server)) {
            assertThat(two.loginAs(TWO, OPEN).status()).isZero();
            assertThat(luns(one)).containsExactly(0, 3);
            assertThat(luns(two)).containsExactly(1, 5);
            byte[] capacity = one.command(Lun.of(0), new byte[]{0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 8)
                    .data();
            assertThat(capacity[2] << 8 | capacity[3] & 0xff).isEqualTo(0x0fff);
            assertThat(one.command(Lun.of(5), new byte[6], 0).sense()).isEqualTo(NO_UNIT);
            assertThat(two.command(Lun.of(0), new byte[6], 0).sense()).isEqualTo(NO_UNIT);
            int reset = one.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, Lun.of(5), 0,
                    one.cmdSn(), 0);
            assertThat(one.managed(reset)).isEqualTo(2); // LUN does not exist
        }
    }

    @Test
    void shouldNotReportChangedLunsOnceTheyWereReported() throws Exception {
        TargetSpec before = TargetSpec.of(OPEN).withLun(0, first);
        try (var server = server(before).start(); var one = ready(server, ONE, OPEN)) {
            server.update(before.withLun(1, second)).join();
            assertThat(luns(one)).containsExactly(0, 1);
            assertThat(one.command(new byte[6], 0).status()).isEqualTo(Status.GOOD);
            assertThat(one.command(Lun.of(1), new byte[6], 0).sense()).as("it is new")
                    .isEqualTo(0x06_29_00);
            assertThat(one.command(Lun.of(1), new byte[6], 0).status()).isEqualTo(Status.GOOD);

            server.update(before).join();
            assertThat(one.command(new byte[6], 0).sense()).isEqualTo(0x06_3f_0e);
        }
    }

    @Test
    void shouldRestrictAReadOnlyInitiator() throws Exception {
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first)
                .withInitiator(InitiatorSpec.of(ONE).withReadOnly(true))
                .withInitiator(InitiatorSpec.of(TWO))).start();
                var reader = ready(server, ONE, OPEN);
                var writer = ready(server, TWO, OPEN)) {
            writer.write(3, TargetFixture.blocks(1, 42));
            assertThat(writer.receive().status()).isEqualTo(Status.GOOD);
            assertThat(reader.read(3, 1)).containsOnly(42);
            reader.write(3, TargetFixture.blocks(1, 43));
            assertThat(reader.receive().sense()).isEqualTo(WRITE_PROTECTED);
            assertThat(reader.command(new byte[]{0x48, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 0).status())
                    .isEqualTo(Status.CHECK_CONDITION);
            assertThat(reader.command(new byte[]{0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0).status())
                    .as("SYNCHRONIZE CACHE, which hosts send to every disk").isEqualTo(Status.GOOD);
            byte[] mode = {0x1a, 8, 0x3f, 0, (byte) 252, 0};
            assertThat(reader.command(mode, 252).data()[2] & 0x80).isEqualTo(0x80);
            assertThat(writer.command(mode, 252).data()[2] & 0x80).isZero();
            assertThat(writer.read(3, 1)).containsOnly(42);
        }
    }

    @Test
    void shouldBeOneUnitAtSeveralLunsAndTargets() throws Exception {
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first).withLun(4, first),
                TargetSpec.of(CLOSED).withLun(0, first)).start();
                var one = ready(server, ONE, OPEN);
                var two = ready(server, TWO, CLOSED)) {
            byte[] reserve = {0x16, 0, 0, 0, 0, 0};
            assertThat(one.command(Lun.of(4), reserve, 0).status()).isEqualTo(Status.GOOD);
            assertThat(two.command(reserve, 0).bhs().int8(3)).isEqualTo(RESERVED);
            assertThat(one.command(reserve, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldRequireEachInitiatorsOwnSecret() throws Exception {
        ChapPolicy chap = ChapPolicy
                .of(new ChapCredentials("one", Secret.of("a secret of some length")));
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first)
                .withInitiator(InitiatorSpec.of(ONE).withChap(chap))
                .withInitiator(InitiatorSpec.of(TWO))).start()) {
            assertThat(status(server, ONE, OPEN)).isEqualTo(0x0201);
            assertThat(status(server, TWO, OPEN)).isZero();
        }
    }

    @Test
    void shouldRedirectOrRejectInitiators() throws Exception {
        var there = new TargetAddress("192.0.2.1", 3261, OptionalInt.empty());
        TargetSpec target = TargetSpec.of(OPEN).withLun(0, first);
        try (var server = server(target.withAbsence(new Absence.Moved(there, false))).start()) {
            try (var raw = new RawInitiator(server)) {
                RawInitiator.Login login = raw.loginAs(ONE, OPEN);
                assertThat(login.status()).isEqualTo(0x0101);
                assertThat(login.keys()).isEqualTo("TargetAddress=192.0.2.1:3261\0");
            }
            var _ = server.update(target.withAbsence(new Absence.Moved(there, true)));
            assertThat(status(server, ONE, OPEN)).isEqualTo(0x0102);
            var _ = server.update(target.withAbsence(new Absence.Maintenance()));
            assertThat(status(server, ONE, OPEN)).isEqualTo(0x0301);
            var _ = server.update(target.withAbsence(new Absence.Removed()));
            assertThat(status(server, ONE, OPEN)).isEqualTo(0x0204);
            var _ = server.update(target);
            assertThat(status(server, ONE, OPEN)).isZero();
        }
        try (var server = TargetFixture.builder()
                .portal(portal(1).withMoved(new Absence.Moved(there, false))).target(target)
                .start()) {
            assertThat(status(server, ONE, OPEN)).isEqualTo(0x0101);
        }
    }

    @Test
    void shouldBoundSessions() throws Exception {
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first),
                TargetSpec.of(CLOSED).withLun(0, second))
                .sessionLimits(new SessionLimits(3, 2, 1)).start();
                var _ = ready(server, ONE, OPEN);
                var _ = ready(server, TWO, OPEN)) {
            try (var again = new RawInitiator(server)) {
                assertThat(again.loginWith(RawInitiator.isid(2), "InitiatorName=" + TWO,
                        "TargetName=" + CLOSED).status()).isZero();
                assertThat(status(server, ONE, CLOSED)).isEqualTo(0x0302); // of the server
            }
            TargetFixture.await("the end of a session", () -> server.sessionCount() == 2);
            assertThat(status(server, ONE + "x", OPEN)).isEqualTo(0x0302); // of the target
            assertThat(status(server, ONE, OPEN)).isZero(); // in the place of the one before
        }
        try (var server = server(TargetSpec.of(OPEN).withLun(0, first))
                .sessionLimits(new SessionLimits(9, 9, 1)).start();
                var _ = ready(server, ONE, OPEN);
                var other = new RawInitiator(server)) {
            assertThat(other.loginWith(RawInitiator.isid(2), "InitiatorName=" + ONE,
                    "TargetName=" + OPEN).status()).isEqualTo(0x0302);
        }
    }

    @Test
    void shouldRejectInvalidSpecs() {
        TargetSpec target = TargetSpec.of(OPEN).withLun(0, first);
        assertThatThrownBy(() -> InitiatorSpec.of("iqn.*"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> target
                .withInitiator(InitiatorSpec.of(ONE).withLuns(new TreeMap<>(Map.of(0, 1)))))
                .hasMessageContaining("LUN 1");
        assertThatThrownBy(() -> target.withInitiator(InitiatorSpec.of(ONE))
                .withInitiator(InitiatorSpec.of(ONE))).hasMessageContaining("twice");
        assertThatThrownBy(() -> portal(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server(target.withGroups(List.of(2))).start())
                .hasMessageContaining("portal group 2");
    }
}
