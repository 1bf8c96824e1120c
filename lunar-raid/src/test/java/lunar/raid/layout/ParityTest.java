package lunar.raid.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class ParityTest {
    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    /** The product by the definition: shift, add, reduce. */
    private static int slowTimes(int a, int b) {
        int product = 0;
        for (int bit = 7; bit >= 0; bit--) {
            product = (product & 0x80) == 0 ? product << 1 : (product << 1 & 0xff) ^ 0x1d;
            product ^= (b >> bit & 1) == 0 ? 0 : a;
        }
        return product;
    }

    @Test
    void shouldMultiplyAndDivideByTheDefinition() {
        for (int a = 0; a < 256; a++) {
            for (int b = 0; b < 256; b++) {
                assertThat(Galois.times(a, b)).isEqualTo(slowTimes(a, b));
                if (b != 0) {
                    assertThat(Galois.over(Galois.times(a, b), b)).isEqualTo(a);
                }
            }
        }
        assertThat(Galois.power(-3)).isEqualTo(Galois.power(252));
        assertThatThrownBy(() -> Galois.logarithm(0)).isInstanceOf(IllegalArgumentException.class);
    }

    private MemorySegment segment(int bytes) {
        var content = new byte[bytes];
        random.nextBytes(content);
        MemorySegment heap = MemorySegment.ofArray(content);
        return switch (random.nextInt(3)) {
            case 0 -> heap;
            case 1 -> Arena.ofAuto().allocate(bytes, 4096).copyFrom(heap);
            default -> Arena.ofAuto().allocate(bytes + 1).asSlice(1).copyFrom(heap);
        };
    }

    @Test
    void shouldSumUpAnyFactorsOfAnySegments() {
        for (int round = 0; round < 200; round++) {
            int bytes = 1 + random.nextInt(9000);
            int count = 1 + random.nextInt(12);
            var parity = new Parity();
            var expected = new byte[bytes];
            MemorySegment first = segment(bytes);
            for (int i = 0; i < count; i++) {
                MemorySegment source = i == 0 ? first : segment(bytes);
                int factor = random.nextBoolean()
                        ? Galois.power(random.nextInt(12))
                        : 1 + random.nextInt(255);
                parity.add(source, factor);
                for (int at = 0; at < bytes; at++) {
                    expected[at] ^= (byte) slowTimes(
                            source.get(ValueLayout.JAVA_BYTE, at) & 0xff, factor);
                }
            }
            MemorySegment target = random.nextBoolean() ? first : segment(bytes);
            parity.into(target);
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).as("seed %d round %d", seed, round)
                    .isEqualTo(expected);
        }
    }

    @Test
    void shouldBeginANewSumAfterClear() {
        var parity = new Parity();
        MemorySegment one = segment(100);
        parity.add(segment(100), 7);
        parity.clear();
        assertThatThrownBy(() -> parity.into(one)).isInstanceOf(IllegalStateException.class);
        parity.add(one, 1);
        MemorySegment target = segment(100);
        parity.into(target);
        assertThat(target.mismatch(one)).isEqualTo(-1);
    }

    @Test
    void shouldTellZeroesFromTheRest() {
        var parity = new Parity();
        for (int bytes : new int[]{1, 7, 8, 4096, 4097, 10_000}) {
            MemorySegment segment = MemorySegment.ofArray(new byte[bytes]);
            assertThat(parity.isZero(segment)).isTrue();
            long at = random.nextInt(bytes);
            segment.set(ValueLayout.JAVA_BYTE, at, (byte) 1);
            assertThat(parity.isZero(segment)).as("byte %d of %d", at, bytes).isFalse();
        }
    }
}
