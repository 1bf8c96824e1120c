package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class XtsTest {
    /** Vector 10 of IEEE 1619-2018 annex B: XTS-AES-256, sector FFh of 512 bytes. */
    private static final byte[] KEY = HexFormat.of().parseHex(
            "2718281828459045235360287471352662497757247093699959574966967627"
                    + "3141592653589793238462643383279502884197169399375105820974944592");
    private static final String FIRST = "1c3b3a102f770386e4836c99e370cf9b"
            + "ea00803f5e482357a4ae12d414a3e63b" + "5d31e276f8fe4a8d66b317f9ac683f44"
            + "680a86ac35adfc3345befecb4bb188fd";
    private static final String LAST = "bb5e54c4f36ffda9fcea70b9c6e693e148c151";

    @Test
    void shouldMatchTheStandardInBothDirections() {
        byte[] plain = new byte[512];
        for (int i = 0; i < plain.length; i++) {
            plain[i] = (byte) i;
        }
        byte[] bytes = plain.clone();
        MemorySegment sector = MemorySegment.ofArray(bytes);
        var xts = new Xts(KEY, 512);
        xts.encrypt(0xff, sector, sector);
        assertThat(HexFormat.of().formatHex(bytes)).startsWith(FIRST).endsWith(LAST);
        xts.decrypt(0xff, sector, sector);
        assertThat(bytes).isEqualTo(plain);
    }
}
