package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iser.wire.IserHeader;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a peer that violates the protocol loses its connection, without other effects. */
class HostilePeerTest {
    private static final String HEADER = "10000000" + "00000000" + "0000000000000000" + "00000000"
            + "0000000000000000";
    private static final byte[] CONNECT = {(byte) 0x80, 0, 0, 0};

    private static byte[] bytes(String hex) { return HexFormat.of().parseHex(hex); }

    @ParameterizedTest
    @CsvSource({"10,shorter than its headers", HEADER + ",shorter than its headers",
            "20aa0001" + "00000000" + "0000000000000000" + "0000000000000000" + "00000000"
                    + ",shorter than its headers"})
    void shouldEndTheConnectionOnATruncatedMessage(String message, String why) throws Exception {
        expectEnd(bytes(message), why);
    }

    @Test
    void shouldEndTheConnectionOnAnInconsistentMessage() throws Exception {
        byte[] message = bytes(HEADER + "40800000" + "00000014" + "00".repeat(40));
        expectEnd(message, "with a PDU of 68");
        message[28 + 4] = (byte) 0xff;
        expectEnd(message, "exceeds the limits");
        message[0] = 0x40;
        expectEnd(message, "in place of a PDU");
    }

    /** Solicited data are fetched by RDMA Read; a Data-Out PDU with them is an error (RFC 7145 section 7.3.6). */
    @Test
    void shouldEndTheConnectionOnASolicitedDataOutPdu() throws Exception {
        expectEnd(bytes(HEADER + "05800000" + "00".repeat(12) + "00000001" + "00000001"
                + "00".repeat(24)), "fetched over iSER");
    }

    @Test
    void shouldEndTheConnectionOnAMessageLongerThanItsBuffer() throws Exception {
        expectEnd(new byte[40_000], "failed");
    }

    /** A command advertises memory that is not registered: access to it fails and ends the connection. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndTheConnectionOnAnInvalidStag(boolean reads) throws Exception {
        int bytes = 100_000;
        byte[] message = new byte[IserHeader.LENGTH + Bhs.LENGTH];
        MemorySegment content = MemorySegment.ofArray(message);
        IserHeader.encode(content);
        if (reads) {
            IserHeader.addRead(content, 0x5eed_f00d, 0x1000);
        } else {
            IserHeader.addWrite(content, 0x5eed_f00d, 0x1000);
        }
        content.asSlice(IserHeader.LENGTH)
                .copyFrom(TestPair.command(1, reads, !reads, bytes, 0).bytes());
        var released = new AtomicInteger();
        try (var pair = TestPair.create()) {
            TestEnd other = TestPair.begin(pair.connect());
            TestEnd server = TestPair.begin(pair.accepted());
            // The first message registers the block of short buffers, which remains registered.
            server.transport().send(TestPair.pdu(NopIn.OPCODE, 7).bytes(), MemorySegment.NULL,
                    () -> {});
            server.transport().flush();
            assertThat(other.next().bhs().itt()).isEqualTo(7);
            var before = pair.targetLoops().use();
            try (var peer = new RawPeer(pair.portal(), CONNECT)) {
                TestEnd target = TestPair.begin(pair.accepted());
                peer.send(message);
                var _ = target.next(ScsiCommand.OPCODE);
                MemorySegment data = Arena.ofAuto().allocate(bytes);
                if (reads) {
                    target.transport().send(
                            TestPair.pdu(DataIn.OPCODE, 1).lengths(0, bytes).bytes(),
                            data, released::incrementAndGet);
                    target.transport().send(TestPair.pdu(ScsiResponse.OPCODE, 1).bytes(),
                            MemorySegment.NULL, () -> {});
                } else {
                    target.transport().fetch(TestPair.pdu(R2t.OPCODE, 1).int32(Pdu.TTT, 1)
                            .int32(R2t.DESIRED_DATA_TRANSFER_LENGTH, bytes).bytes(), data,
                            released::incrementAndGet);
                }
                target.transport().flush();
                peer.awaitEnd();
                var _ = target.end();
                assertThat(target.hasNothing()).isTrue();
                assertThat(released).hasValue(1);
            }
            assertThat(pair.targetLoops().use()).isEqualTo(before);
            other.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), MemorySegment.NULL,
                    () -> {});
            other.transport().flush();
            assertThat(server.next().bhs().itt()).isEqualTo(1);
        }
    }

    private static void expectEnd(byte[] message, String why) throws Exception {
        try (var pair = TestPair.create(); var peer = new RawPeer(pair.portal(), CONNECT)) {
            TestEnd target = TestPair.begin(pair.accepted());
            peer.send(message);
            assertThat(target.end()).hasValueSatisfying(
                    cause -> assertThat(cause).hasMessageContaining(why));
            peer.awaitEnd();
            assertThat(target.hasNothing()).isTrue();
            assertThat(pair.targetLoops().messageBuffersInUse()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 56, 200})
    void shouldAcceptAnyPrivateData(int length) throws Exception {
        byte[] garbage = new byte[length];
        new Random(Seed.next()).nextBytes(garbage);
        try (var pair = TestPair.create(); var peer = new RawPeer(pair.portal(), garbage)) {
            TestEnd target = TestPair.begin(pair.accepted());
            peer.send(bytes(HEADER + "40800000" + "00000000" + "00".repeat(40)));
            assertThat(target.next().bhs().opcode()).isEqualTo(NopOut.OPCODE);
        }
    }

    @Test
    void shouldSurviveRandomMessages() throws Exception {
        var random = new Random(Seed.next());
        try (var pair = TestPair.create()) {
            for (int i = 0; i < 20; i++) {
                try (var peer = new RawPeer(pair.portal(), CONNECT)) {
                    TestEnd target = TestPair.begin(pair.accepted());
                    for (int j = 0; j < 4; j++) {
                        byte[] message = new byte[76 + random.nextInt(100)];
                        if (random.nextBoolean()) {
                            random.nextBytes(message);
                        }
                        message[0] = (byte) (0x10 | random.nextInt(16));
                        peer.send(message);
                    }
                    peer.send(new byte[20]); // ends the connection, unless it has ended already
                    assertThat(target.end()).isPresent();
                }
            }
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(),
                    MemorySegment.NULL, () -> {});
            initiator.transport().flush();
            assertThat(target.next().bhs().itt()).isEqualTo(1);
        }
    }
}
