package lunar.iscsi.pdu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import lunar.iscsi.ProtocolException;
import org.junit.jupiter.api.Test;

class AhsTest {
    @Test
    void shouldReadAndWriteAnExtendedCdb() throws ProtocolException {
        List<Ahs> all = Ahs.decode(bytes("000601000102030405000000"));
        assertThat(all).containsExactly(new Ahs.ExtendedCdb(bytes("0102030405")));
        assertThat(encoded(all.getFirst())).isEqualTo("000601000102030405000000");
    }

    @Test
    void shouldReadAndWriteABidirectionalReadLength() throws ProtocolException {
        List<Ahs> all = Ahs.decode(bytes("0005020080000200"));
        assertThat(all).containsExactly(new Ahs.BidirectionalReadLength(0x8000_0200));
        assertThat(encoded(all.getFirst())).isEqualTo("0005020080000200");
    }

    @Test
    void shouldReadBothInOneHeader() throws ProtocolException {
        assertThat(Ahs.decode(bytes("0002010001000000" + "0005020000000200"))).hasSize(2);
        assertThat(Ahs.decode(bytes(""))).isEmpty();
    }

    @Test
    void shouldAcceptTheLongestCdbAndNoLonger() throws ProtocolException {
        String longest = "00f50100" + "11".repeat(244);
        assertThat(Ahs.decode(bytes(longest))).hasSize(1);
        assertRejected("00f60100" + "11".repeat(245) + "000000", "245 bytes of extended CDB");
    }

    @Test
    void shouldRejectLengthsWhichDoNotFit() {
        assertRejected("00020100", "does not fit"); // its one byte of CDB is missing
        assertRejected("0000010000000000", "does not fit");
        assertRejected("ffff010000000000", "does not fit");
        assertRejected("0006010001020304", "does not fit"); // five bytes of CDB in four
        assertRejected("000201000100", "does not fit"); // no padding
        assertRejected("0002010001000000" + "0005", "truncated AHS");
        assertRejected("00010100", "0 bytes of extended CDB");
        assertRejected("00040200000000", "does not fit");
        assertRejected("0004020000000000", "bidirectional read length of 3 bytes");
    }

    @Test
    void shouldRejectReservedTypes() {
        assertRejected("0005000000000000", "AHSType has the reserved code 0");
        assertRejected("0005030000000000", "AHSType has the reserved code 3");
        assertRejected("00053f0000000000", "AHSType has the reserved code 63");
    }

    @Test
    void shouldIgnoreReservedBitsOfTheType() throws ProtocolException {
        assertThat(Ahs.decode(bytes("0005c20000000200")))
                .containsExactly(new Ahs.BidirectionalReadLength(0x200));
    }

    @Test
    void shouldRejectTwoOfAType() {
        assertRejected("0005020000000200" + "0005020000000200", "two AHS of type 2");
    }

    private static void assertRejected(String hex, String message) {
        assertThatThrownBy(() -> Ahs.decode(bytes(hex))).isInstanceOf(ProtocolException.class)
                .hasMessageContaining(message).hasMessageContaining("11.2.2");
    }

    private static String encoded(Ahs ahs) {
        byte[] bytes = new byte[ahs.lengthBytes()];
        Arrays.fill(bytes, (byte) 0xee);
        ahs.encode(MemorySegment.ofArray(bytes));
        return HexFormat.of().formatHex(bytes);
    }

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }
}
