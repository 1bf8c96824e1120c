package lunar.iscsi.framing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Tests the examples of RFC 3720 appendix B.4, which RFC 7143 appendix A.4 repeats, in the byte order of the wire. */
class Crc32cTest {
    @Test
    void shouldGiveTheDigestsOfTheStandard() {
        byte[] bytes = new byte[32];
        assertThat(digest(bytes)).isEqualTo(0xaa36_918a);
        Arrays.fill(bytes, (byte) 0xff);
        assertThat(digest(bytes)).isEqualTo(0x43ab_a862);
        for (int i = 0; i < 32; i++) {
            bytes[i] = (byte) i;
        }
        assertThat(digest(bytes)).isEqualTo(0x4e79_dd46);
        for (int i = 0; i < 32; i++) {
            bytes[i] = (byte) (31 - i);
        }
        assertThat(digest(bytes)).isEqualTo(0x5cdb_3f11);
    }

    @Test
    void shouldGiveTheDigestOfTheStandardsReadCommand() {
        byte[] read10 = HexFormat.of()
                .parseHex("01c00000" + "00000000" + "00000000" + "00000000" + "14000000"
                        + "00000400" + "00000014" + "00000018" + "28000000" + "00000000"
                        + "02000000" + "00000000");
        assertThat(digest(read10)).isEqualTo(0x563a_96d9);
    }

    @Test
    void shouldAcceptPiecesOfAnyMemory() {
        byte[] bytes = "a segment that is cut".getBytes(StandardCharsets.US_ASCII);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment direct = arena.allocate(bytes.length);
            direct.copyFrom(MemorySegment.ofArray(bytes));
            Crc32c pieces = new Crc32c();
            pieces.update(ByteBuffer.wrap(bytes)).reset();
            pieces.update(direct.asSlice(0, 5)).update(ByteBuffer.wrap(bytes, 5, 6))
                    .update(MemorySegment.ofArray(bytes).asSlice(11));
            assertThat(pieces.pad(bytes.length).wire()).isEqualTo(digest(bytes));
        }
    }

    @Test
    void shouldCountThePaddingAsZeroes() {
        byte[] padded = HexFormat.of().parseHex("0102030405000000");
        MemorySegment five = MemorySegment.ofArray(padded).asSlice(0, 5);
        assertThat(Crc32c.of(five)).isEqualTo(digest(padded));
        assertThat(new Crc32c().update(five).pad(5).wire()).isEqualTo(digest(padded));
        assertThat(new Crc32c().update(five).wire()).isNotEqualTo(digest(padded));
    }

    private static int digest(byte[] bytes) { return Crc32c.of(MemorySegment.ofArray(bytes)); }
}
