package lunar.iser;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.spi.Transport.Release;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests to connect that a portal cannot accept. */
@Timeout(300)
class IserListenerTest {
    private final HoldingDevice targetDevice = HoldingDevice.over(TestPair.device());

    /** The target works still: a connection comes about, and carries a PDU. */
    private static void expectConnection(TestPair pair) throws Exception {
        TestEnd initiator = TestPair.begin(pair.connect());
        TestEnd target = TestPair.begin(pair.accepted());
        initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), MemorySegment.NULL,
                Release.NOTHING);
        initiator.transport().flush();
        var _ = target.next(NopOut.OPCODE);
    }

    @Test
    void shouldRejectARequestForWhichThereIsNoEndpoint() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device())) {
            targetDevice.full(true);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(pair::connect).isInstanceOf(ConnectException.class);
            }
            targetDevice.full(false);
            expectConnection(pair);
        }
    }
}
