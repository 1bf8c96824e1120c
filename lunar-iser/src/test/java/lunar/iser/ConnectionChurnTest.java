package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.spi.Transport.Release;
import org.junit.jupiter.api.Test;

/** Tests that ended connections leak nothing: no message buffers, no registered memory, no command buffers. */
class ConnectionChurnTest {
    private static final int WARM_UP = 8;
    private static final int CONNECTIONS = 1000;
    private static final int BYTES = 100_000;
    private static final MemorySegment NONE = MemorySegment.NULL;

    private final AtomicInteger released = new AtomicInteger();
    private final Release release = released::incrementAndGet;

    @Test
    void shouldLeakNoMemoryOverAThousandConnections() throws Exception {
        try (var pair = TestPair.create()) {
            for (int i = 0; i < WARM_UP; i++) {
                connectAndEnd(pair, i);
            }
            var initiator = pair.initiatorLoops().use();
            var target = pair.targetLoops().use();
            for (int i = 0; i < CONNECTIONS; i++) {
                connectAndEnd(pair, i);
            }
            assertThat(pair.initiatorLoops().use()).isEqualTo(initiator);
            assertThat(pair.targetLoops().use()).isEqualTo(target);
            assertThat(pair.initiatorLoops().messageBuffersInUse()).isZero();
            assertThat(pair.targetLoops().messageBuffersInUse()).isZero();
            assertThat(released).hasValue(2 * (WARM_UP + CONNECTIONS));
        }
    }

    /** Opens a connection and ends it in one of four ways, with commands of registered and copied memory open. */
    private void connectAndEnd(TestPair pair, int number) throws Exception {
        TestEnd initiator = TestPair.begin(pair.connect());
        TestEnd target = TestPair.begin(pair.accepted());
        try (Arena arena = Arena.ofShared()) {
            initiator.transport().sendCommand(TestPair.command(1, true, false, BYTES, 0).bytes(),
                    NONE, arena.allocate(BYTES), NONE, release);
            initiator.transport().sendCommand(TestPair.command(2, false, true, 1000, 0).bytes(),
                    NONE, NONE, MemorySegment.ofArray(new byte[1000]), release);
            initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 3).bytes(), NONE,
                    Release.NOTHING);
            initiator.transport().flush();
            assertThat(target.next(ScsiCommand.OPCODE).bhs().itt()).isEqualTo(1);
            TestEnd ending = number % 2 == 0 ? initiator : target;
            if (number % 4 < 2) {
                ending.transport().close();
            } else {
                ending.transport().abort();
            }
            var _ = initiator.end();
            var _ = target.end();
        }
    }
}
