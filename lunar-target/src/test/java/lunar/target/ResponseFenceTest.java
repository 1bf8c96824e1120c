package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The order of answers over the connections of a session (RFC 7143 section 4.2.2.3). */
class ResponseFenceTest {
    private static final byte[] NOTHING = {};
    private static final byte[] TEST_UNIT_READY = new byte[6];

    private static int testUnit(WirePeer peer) throws Exception {
        return peer.command(0, TEST_UNIT_READY, 0, NOTHING, true);
    }

    @Test
    void shouldTellOfAResetWhenAllAnswersBeforeAreAcknowledged() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            assertThat(one.isSilent()).isTrue();
            int before = testUnit(two);
            two.lose(0x21, before); // it has come, and nobody has said so
            int reset = one.resetUnit();
            WirePeer.Pdu ping = two.receive();
            assertThat(ping.opcode()).as("a ping that asks for ExpStatSN").isEqualTo(0x20);
            assertThat(one.isSilent()).as("the answer waits").isTrue();

            two.expStatSn = ping.statSn();
            two.pong(ping);
            assertThat(one.take(0x22, reset).response()).isZero();
        }
    }

    @Test
    void shouldHoldWhatFollowsUntilTheAnswerIsAcknowledged() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            assertThat(one.isSilent()).isTrue();
            assertThat(two.isSilent()).isTrue();
            int reset = one.resetUnit();
            two.pong(two.receive()); // acknowledges the answer to its own ping
            WirePeer.Pdu answer = one.receive();
            assertThat(answer.opcode()).isEqualTo(0x22);
            assertThat(answer.itt()).isEqualTo(reset);
            int after = testUnit(two);
            assertThat(two.isSilent()).as("nothing overtakes the answer").isTrue();

            one.expStatSn = answer.statSn() + 1;
            one.pong(one.receive());
            two.pong(two.receive()); // a unit attention is behind a fence of its own
            assertThat(two.take(0x21, after).status()).as("unit attention of the reset")
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldNotWaitForAConnectionThatIsGone() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            assertThat(one.isSilent()).isTrue();
            two.lose(0x21, testUnit(two));
            int reset = one.resetUnit();
            assertThat(two.receive().opcode()).isEqualTo(0x20);
            two.close();
            assertThat(one.take(0x22, reset).response()).isZero();
        }
    }

    @Test
    void shouldNotWaitWithoutEndForAnInitiatorThatAcknowledgesNothing() throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(15_000, 30_000, 200));
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            assertThat(one.isSilent()).isTrue();
            two.lose(0x21, testUnit(two));
            int reset = one.resetUnit();
            two.pong(two.receive());
            assertThat(one.take(0x22, reset).response()).isZero();
        }
    }

    @Test
    void shouldKeepFencedAnswersInTheirOrder() throws Exception {
        try (var target = new TargetFixture();
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            assertThat(one.isSilent()).isTrue();
            two.lose(0x21, testUnit(two));
            int first = one.resetUnit();
            int second = one.resetUnit();
            WirePeer.Pdu ping = two.receive();
            two.expStatSn = ping.statSn();
            two.pong(ping);
            assertThat(one.take(0x22, first).response()).isZero();
            one.pong(one.take());
            assertThat(one.take(0x22, second).response()).isZero();
        }
    }
}
