package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iser.wire.Hello;
import lunar.iser.wire.IserHeader;
import lunar.rdma.RemoteMemory;
import org.junit.jupiter.api.Test;

/** Tests that an end respects the limits that its peer declares, in the login or in its Hello. */
class PeerLimitsTest {
    private static final byte[] CONNECT = {(byte) 0x80, 0, 0, 0};
    private static final int BYTES = 1000;
    private static final MemorySegment NONE = MemorySegment.NULL;

    private final AtomicInteger released = new AtomicInteger();

    /** Sends a Hello and commands with data-out, and has the target fetch the data of each. */
    private void fetch(RawPeer peer, TestEnd target, HoldingDevice device, int permittedReads,
            int commands) throws Exception {
        byte[] hello = new byte[IserHeader.LENGTH];
        new Hello(Hello.VERSION, Hello.VERSION, permittedReads)
                .encode(MemorySegment.ofArray(hello));
        peer.send(hello);
        RemoteMemory data = peer.expose();
        for (int i = 0; i < commands; i++) {
            byte[] message = new byte[IserHeader.LENGTH + Bhs.LENGTH];
            MemorySegment content = MemorySegment.ofArray(message);
            IserHeader.encode(content);
            IserHeader.addWrite(content, data.key(), data.address());
            content.asSlice(IserHeader.LENGTH)
                    .copyFrom(TestPair.command(i, false, true, BYTES, 0).bytes());
            peer.send(message);
        }
        for (int i = 0; i < commands; i++) {
            var _ = target.next(ScsiCommand.OPCODE);
        }
        device.hold();
        for (int i = 0; i < commands; i++) {
            target.transport().fetch(TestPair.pdu(R2t.OPCODE, i).int32(Pdu.TTT, 1)
                    .int32(R2t.DESIRED_DATA_TRANSFER_LENGTH, BYTES).bytes(),
                    Arena.ofAuto().allocate(BYTES), released::incrementAndGet);
        }
        target.transport().flush();
    }

    /** The target has no more RDMA Reads outstanding than the iSER-IRD of the Hello (RFC 7145 section 9.3). */
    @Test
    void shouldHaveNoMoreReadsOutstandingThanTheHelloPermits() throws Exception {
        var device = HoldingDevice.over(TestPair.device());
        try (var pair = TestPair.of(TestPair.device(), device.device());
                var peer = new RawPeer(pair.portal(), CONNECT)) {
            TestEnd target = TestPair.begin(pair.accepted(), TestPair.parameters(0, true));
            fetch(peer, target, device, 2, 5);
            assertThat(device.reads()).isEqualTo(2);
            device.letGo();
            for (int i = 0; i < 5; i++) {
                peer.runUntil(() -> !target.hasNothing());
                assertThat(target.next(DataOut.OPCODE).bhs().itt()).isEqualTo(i);
            }
            assertThat(device.reads()).isEqualTo(5);
            assertThat(target.isClosed()).isFalse();
        }
    }

    @Test
    void shouldEndTheConnectionIfDataCannotBeFetched() throws Exception {
        var device = HoldingDevice.over(TestPair.device());
        try (var pair = TestPair.of(TestPair.device(), device.device());
                var peer = new RawPeer(pair.portal(), CONNECT)) {
            TestEnd target = TestPair.begin(pair.accepted(), TestPair.parameters(0, true));
            fetch(peer, target, device, 0, 1);
            device.letGo();
            assertThat(target.end()).hasValueSatisfying(
                    why -> assertThat(why).hasMessageContaining("permits no RDMA Reads"));
            assertThat(device.reads()).isZero();
            assertThat(released).hasValue(1);
        }
    }

    /** A command without data is not sent with more AHS than the target accepts, either (RFC 7145 section 6.8). */
    @Test
    void shouldSendNoMoreHeaderSegmentsThanTheTargetAccepts() throws Exception {
        try (var pair = TestPair.create()) {
            TestEnd initiator = TestPair.begin(pair.connect(), TestPair.parameters(0, 16, false));
            TestEnd target = TestPair.begin(pair.accepted());
            send(initiator, 16);
            assertThat(target.next(ScsiCommand.OPCODE).ahs().byteSize()).isEqualTo(16);
            send(initiator, 20);
            assertThat(initiator.end()).hasValueSatisfying(
                    why -> assertThat(why).hasMessageContaining("MaxAHSLength"));
            var _ = target.end();
            assertThat(target.hasNothing()).isTrue();
            assertThat(released).hasValue(2);
        }
    }

    private void send(TestEnd initiator, int ahsBytes) {
        MemorySegment header = MemorySegment.ofArray(new byte[Bhs.LENGTH + ahsBytes]);
        new Bhs().wrap(header).start(ScsiCommand.OPCODE, false, 0x80).lengths(ahsBytes, 0);
        initiator.transport().send(header, NONE, released::incrementAndGet);
        initiator.transport().flush();
    }
}
