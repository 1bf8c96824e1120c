package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests requests that arrive before their turn by CmdSN (RFC 7143 section 4.2.2.1): losing one would stall the session.
 */
@Timeout(600)
class HeldRequestsTest {
    private static final int NOP_IN = 0x20;
    private static final int REJECT = 0x3f;
    private static final int LONG_OPERATION_REJECT = 0x0a;

    /** A ping that is not immediate, with its CmdSN. */
    private static int ping(WirePeer peer, int cmdSn, byte[] data) throws IOException {
        int itt = peer.newTag();
        ByteBuffer header = peer.pingHeader(itt).put(0, (byte) 0).putInt(24, cmdSn);
        peer.send(header, data);
        return itt;
    }

    @Test
    void shouldAnswerAllRequestsWithinTheWindow() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 0)) {
            int first = peer.numbers.cmdSn;
            int count = 100;
            int[] tags = new int[count];
            for (int i = 1; i < count; i++) {
                tags[i] = ping(peer, first + i, new byte[0]);
            }
            tags[0] = ping(peer, first, new byte[0]);
            peer.numbers.cmdSn += count;
            assertThat(IntStream.range(0, count).map(i -> tag(peer)).toArray())
                    .containsExactly(tags);
            assertThat(peer.isGood(peer.command(0, new byte[6], 0, new byte[0], true))).isTrue();
        }
    }

    /** There is no memory for the data of all: those beyond are rejected in their turn, and the window continues. */
    @Test
    void shouldRejectRequestsWithTooMuchDataInTurn() throws Exception {
        try (var target = new TargetFixture(); var peer = WirePeer.loggedIn(target.server, 0)) {
            int first = peer.numbers.cmdSn;
            byte[] data = new byte[256 << 10];
            for (int i = 1; i <= 6; i++) {
                ping(peer, first + i, data);
            }
            ping(peer, first, new byte[0]);
            peer.numbers.cmdSn += 7;
            for (int i = 0; i <= 4; i++) {
                assertThat(peer.take().opcode()).as("answer %d", i).isEqualTo(NOP_IN);
            }
            for (int i = 0; i < 2; i++) {
                WirePeer.Pdu rejected = peer.take();
                assertThat(rejected.opcode()).isEqualTo(REJECT);
                assertThat(rejected.response()).isEqualTo(LONG_OPERATION_REJECT);
            }
            assertThat(peer.isGood(peer.command(0, new byte[6], 0, new byte[0], true))).isTrue();
        }
    }

    private static int tag(WirePeer peer) {
        try {
            WirePeer.Pdu answer = peer.take();
            assertThat(answer.opcode()).isEqualTo(NOP_IN);
            return answer.itt();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
