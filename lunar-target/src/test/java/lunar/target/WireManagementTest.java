package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Tests the functions of RFC 7144 section 4 and the order of commands over connections (RFC 7143 section 4.2.2.1), byte
 * by byte.
 */
class WireManagementTest {
    private static final int QUERY_TASK = 9;
    private static final int QUERY_TASK_SET = 10;
    private static final int I_T_NEXUS_RESET = 11;
    private static final int QUERY_ASYNCHRONOUS_EVENT = 12;
    private static final int COMPLETE = 0;
    private static final int NOT_SUPPORTED = 5;
    private static final int SUCCEEDED = 7;
    private static final int RESPONSE = 0x21;
    private static final String LEVEL = "iSCSIProtocolLevel=2";
    private static final String OTHER = "InitiatorName=iqn.2026-11.org.lunar:other";

    private static WirePeer other(TargetFixture target) throws Exception {
        var peer = new WirePeer(target.server, 0);
        peer.initiator = OTHER;
        assertThat(peer.login(0, 0)).isZero();
        while (peer.take(RESPONSE, peer.command(0, new byte[6], 0, new byte[0], true))
                .status() == 2) {
        }
        return peer;
    }

    @Test
    void shouldReportExistingTasks() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0, LEVEL)) {
            assertThat(peer.managed(QUERY_TASK_SET, WirePeer.NONE)).isEqualTo(COMPLETE);
            target.device.shut(1);
            int read = peer.read(0, 1);
            target.device.awaitArrivals();
            assertThat(peer.managed(QUERY_TASK, read)).isEqualTo(SUCCEEDED);
            assertThat(peer.managed(QUERY_TASK_SET, WirePeer.NONE)).isEqualTo(SUCCEEDED);
            target.device.open();
            assertThat(peer.take().itt()).isEqualTo(read);
            assertThat(peer.managed(QUERY_TASK_SET, WirePeer.NONE)).isEqualTo(COMPLETE);
        }
    }

    @Test
    void shouldReportWhetherAUnitAttentionWaits() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0, LEVEL);
                var other = other(target)) {
            assertThat(peer.managed(QUERY_ASYNCHRONOUS_EVENT, WirePeer.NONE)).isEqualTo(COMPLETE);
            assertThat(other.take(0x22, other.resetUnit()).response()).isEqualTo(COMPLETE);
            assertThat(peer.managed(QUERY_ASYNCHRONOUS_EVENT, WirePeer.NONE))
                    .isEqualTo(SUCCEEDED);
            int itt = peer.command(0, new byte[6], 0, new byte[0], true);
            assertThat(peer.take(RESPONSE, itt).status()).as("it still waits").isEqualTo(2);
            assertThat(peer.managed(QUERY_ASYNCHRONOUS_EVENT, WirePeer.NONE)).isEqualTo(COMPLETE);
        }
    }

    @Test
    void shouldResetOneNexusAndNoOther() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0, LEVEL);
                var other = other(target)) {
            target.device.shut(2);
            int ours = peer.read(0, 1);
            int theirs = other.read(1, 1);
            target.device.awaitArrivals();
            int reset = peer.manage(I_T_NEXUS_RESET, WirePeer.NONE);
            assertThat(peer.isSilent()).as("it waits for what it aborts").isTrue();
            target.device.open();
            assertThat(peer.take(0x22, reset).response()).isEqualTo(COMPLETE);
            assertThat(other.take().itt()).as("goes on").isEqualTo(theirs);
            assertThat(peer.isSilent()).as("task %d is aborted", ours).isTrue();
        }
    }

    @Test
    void shouldRejectThemBelowTheProtocolLevel() throws Exception {
        try (var target = new TargetFixture();
                var peer = WirePeer.loggedIn(target.server, 0)) {
            for (int function = QUERY_TASK; function <= QUERY_ASYNCHRONOUS_EVENT; function++) {
                assertThat(peer.managed(function, WirePeer.NONE)).as("function %d", function)
                        .isEqualTo(NOT_SUPPORTED);
            }
        }
    }

    @Test
    void shouldExecuteInOrderOverConnectionsAndAnswerOnTheirOwn() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            int cmdSn = one.numbers.cmdSn;
            one.numbers.cmdSn += 2;
            int later = two.newTag();
            two.command(later, cmdSn + 1, WirePeer.WRITE, WirePeer.cdb10(0x2a, 5, 1), 512,
                    TargetFixture.blocks(1, 2), true);
            assertThat(two.isSilent()).as("waits for its turn").isTrue();
            int sooner = one.newTag();
            one.command(sooner, cmdSn, WirePeer.WRITE, WirePeer.cdb10(0x2a, 5, 1), 512,
                    TargetFixture.blocks(1, 1), true);
            assertThat(one.isGood(sooner)).isTrue();
            assertThat(two.isGood(later)).isTrue();
            assertThat(target.onDevice(5, 1)).isEqualTo(TargetFixture.blocks(1, 2));
            two.command(two.newTag(), cmdSn, WirePeer.WRITE, WirePeer.cdb10(0x2a, 5, 1), 512,
                    TargetFixture.blocks(1, 3), true); // a number of the past is not looked at
            assertThat(two.isSilent()).isTrue();
            assertThat(target.onDevice(5, 1)).isEqualTo(TargetFixture.blocks(1, 2));
        }
    }
}
