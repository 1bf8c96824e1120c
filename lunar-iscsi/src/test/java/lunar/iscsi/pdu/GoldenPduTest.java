package lunar.iscsi.pdu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import lunar.iscsi.GoldenCapture;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Crc32c;
import org.junit.jupiter.api.Test;

/** Tests that every captured header of foreign peers decodes to a record that encodes to the same header. */
class GoldenPduTest {
    /** A NOP-Out without task tag and without the I bit, which the script sent so that the target rejects it. */
    private static final String BAD_ON_PURPOSE = "scripted-lio-reject PDU 4";

    private static final int NSG_MASK = 0x03;

    /** Reserved bits which a peer sets: by why, the PDUs in which it does. Records do not keep them. */
    private static final Map<String, Set<String>> RESERVED_BITS = Map.of(
            "NSG without T (reserved, section 11.12.3): libiscsi leaves the next stage there, tgtd echoes it",
            Set.of("libiscsi-tgtd-chap PDU 2", "libiscsi-tgtd-chap-mutual PDU 2",
                    "libiscsi-tgtd-chap-wrong-secret PDU 2", "qemu-tgtd-small-bursts PDU 1"),
            "StatSN of a Data-In without status (reserved, section 11.7.3): LIO fills it with ones, or its number",
            Set.of("kernel-lio-many-data-in PDU 9", "kernel-lio-many-data-in PDU 10",
                    "kernel-lio-many-data-in PDU 11", "scripted-lio-snack PDU 5",
                    "scripted-lio-snack PDU 6", "scripted-lio-snack PDU 7",
                    "scripted-lio-snack PDU 10", "scripted-lio-snack PDU 11"),
            "bytes 20 to 23 of an Asynchronous Message (reserved, section 11.9): LIO fills them with ones",
            Set.of("scripted-lio-async PDU 4"));

    @Test
    void shouldEncodeEveryCapturedHeaderAsItWas() throws ProtocolException {
        Set<String> withReservedBits = new TreeSet<>();
        int count = 0;
        for (GoldenCapture capture : GoldenCapture.all()) {
            for (GoldenCapture.Pdu golden : capture.pdus()) {
                if (golden.toString().equals(BAD_ON_PURPOSE)) {
                    continue;
                }
                Pdu pdu = golden.decoded();
                String encoded = hex(encode(pdu, golden.bhs().dataSegmentLength()));
                if (!encoded.equals(hex(golden.headers()))) {
                    withReservedBits.add(golden.toString());
                    assertThat(encoded).as("%s %s", golden, pdu)
                            .isEqualTo(hex(withoutReservedBits(golden)));
                }
                assertThat(golden.fromInitiator()).isEqualTo(pdu instanceof InitiatorPdu);
                count++;
            }
        }
        assertThat(count).isGreaterThan(600);
        Set<String> listed = new TreeSet<>();
        RESERVED_BITS.values().forEach(listed::addAll);
        assertThat(withReservedBits).isEqualTo(listed);
    }

    @Test
    void shouldComputeEveryCapturedDigest() {
        int headers = 0;
        int data = 0;
        for (GoldenCapture capture : GoldenCapture.all()) {
            for (GoldenCapture.Pdu golden : capture.pdus()) {
                if (golden.hasHeaderDigest()) {
                    assertThat(Crc32c.of(golden.headers())).as("header of %s", golden)
                            .isEqualTo(golden.wireHeaderDigest());
                    headers++;
                }
                if (golden.hasDataDigest()) {
                    assertThat(Crc32c.of(golden.paddedData())).as("data of %s", golden)
                            .isEqualTo(golden.wireDataDigest());
                    data++;
                }
            }
        }
        assertThat(headers).isGreaterThan(50);
        assertThat(data).isGreaterThan(10);
    }

    @Test
    void shouldHaveCapturesOfEveryKindOfPdu() throws ProtocolException {
        Set<Class<?>> kinds = new HashSet<>();
        for (GoldenCapture capture : GoldenCapture.all()) {
            for (GoldenCapture.Pdu golden : capture.pdus()) {
                if (!golden.toString().equals(BAD_ON_PURPOSE)) {
                    kinds.add(golden.decoded().getClass());
                }
            }
        }
        List<Class<?>> all = new ArrayList<>(List.of(InitiatorPdu.class.getPermittedSubclasses()));
        all.addAll(List.of(TargetPdu.class.getPermittedSubclasses()));
        assertThat(kinds).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void shouldRejectTheNopOutWhichTheTargetRejected() {
        GoldenCapture.Pdu golden = GoldenCapture.pdu("scripted-lio-reject", 4);
        assertThat(golden).hasToString(BAD_ON_PURPOSE);
        assertThatThrownBy(golden::decoded).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("immediate").hasMessageContaining("11.18.1");
    }

    /** The headers, written in the middle of a buffer that was not empty. */
    static MemorySegment encode(Pdu pdu, int dataBytes) {
        int ahsBytes = pdu instanceof ScsiCommand command ? command.ahsBytes() : 0;
        int at = 3;
        MemorySegment buffer = MemorySegment.ofArray(new byte[at + Bhs.LENGTH + ahsBytes])
                .fill((byte) 0xee);
        Bhs bhs = new Bhs().wrap(buffer, at);
        pdu.encode(bhs);
        bhs.lengths(ahsBytes, dataBytes);
        if (pdu instanceof ScsiCommand command) {
            command.encodeAhs(buffer.asSlice(at + Bhs.LENGTH));
        }
        return buffer.asSlice(at);
    }

    static String hex(MemorySegment bytes) {
        return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    private static MemorySegment withoutReservedBits(GoldenCapture.Pdu golden) {
        Bhs bhs = new Bhs()
                .wrap(MemorySegment.ofArray(golden.headers().toArray(ValueLayout.JAVA_BYTE)));
        switch (bhs.opcode()) {
            case LoginRequest.OPCODE, LoginResponse.OPCODE -> {
                if (!bhs.isFinal()) {
                    bhs.int8(Bhs.FLAGS, bhs.flags() & ~NSG_MASK);
                }
            }
            case DataIn.OPCODE -> {
                if ((bhs.flags() & DataIn.HAS_STATUS) == 0) {
                    bhs.int32(DataIn.STAT_SN, 0);
                }
            }
            case AsyncMessage.OPCODE -> bhs.int32(Pdu.TTT, 0);
            default -> {
            }
        }
        return bhs.bytes();
    }
}
