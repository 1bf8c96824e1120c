package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import org.junit.jupiter.api.Test;

/** Tests the order of responses over the connections of a session (RFC 7143 section 4.2.2.3). */
class ResponseFenceTest {
    private static final int COMMANDS = 4;
    private static final int ABORT_TASK_SET = 2;
    private static final byte[] NOTHING = {};
    private static final byte[] TEST_UNIT_READY = new byte[6];

    private static int testUnit(WirePeer peer) throws Exception {
        return peer.command(0, TEST_UNIT_READY, 0, NOTHING, true);
    }

    @Test
    void shouldReportAResetWhenAllAnswersBeforeAreAcknowledged() throws Exception {
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
    void shouldHoldLaterResponsesUntilTheFencedOneIsAcknowledged() throws Exception {
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
    void shouldNotWaitForeverForAnInitiatorThatDoesNotAcknowledge() throws Exception {
        try (var target = new TargetFixture(TargetFixture.limits(600_000, 600_000, 200));
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

    private static ServerLimits fewCommands() { // and nobody gives up waiting for an acknowledgement
        return TargetFixture.limits(600_000, 600_000, 60_000).withCommandsPerSession(COMMANDS);
    }

    @Test
    void shouldCountFunctionsUntilTheyAreAnswered() throws Exception {
        try (var target = new TargetFixture(fewCommands());
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=2");
                var two = one.another(target.server, 1, 0)) {
            assertThat(one.isSilent()).isTrue();
            two.lose(0x21, testUnit(two));
            for (int i = 0; i < COMMANDS; i++) {
                one.manage(ABORT_TASK_SET, -1);
            }
            assertThat(one.isSilent()).as("performed, and not answered").isTrue();
            one.manage(ABORT_TASK_SET, -1);
            assertThat(one.rejected()).as("too many immediate commands").isEqualTo(6);
        }
    }

    @Test
    void shouldKeepNoMoreAnswersThanTheirBound() throws Exception {
        try (var target = new TargetFixture(fewCommands());
                var one = WirePeer.loggedIn(target.server, 0, "MaxConnections=4");
                var two = one.another(target.server, 1, 0);
                var three = one.another(target.server, 2, 0);
                var four = one.another(target.server, 3, 0)) {
            assertThat(one.isSilent()).isTrue();
            two.lose(0x21, testUnit(two));
            var functions = new ArrayDeque<Integer>();
            for (int i = 0; i < COMMANDS; i++) {
                functions.add(one.manage(ABORT_TASK_SET, -1));
                three.manage(ABORT_TASK_SET, -1);
            }
            assertThat(one.isSilent()).isTrue();
            three.pong(three.receive());
            assertThat(three.isSilent()).isTrue();
            four.pong(four.receive());
            four.manage(ABORT_TASK_SET, -1);
            assertThat(four.isSilent()).as("one fenced, and as many behind it as may be").isTrue();
            four.manage(ABORT_TASK_SET, -1);

            while (!functions.isEmpty()) {
                assertThat(one.take(0x22, functions.remove()).response()).isZero();
            }
        }
    }
}
