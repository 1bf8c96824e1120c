package lunar.osd.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class EncodedOffsetTest {
    @ParameterizedTest
    @CsvSource({"OSD_2, B0000200, 4096", "OSD_2, B0000209, 4168", "OSD_2, B0000005, 40",
            "OSD_2, 00000000, 0", "OSD_1, 00000000, 0", "OSD_1, 00000001, 256",
            "OSD_1, 1FFFFFFF, 137438952960", "OSD_2, B0000020, 256",
            // the smallest exponent whose mantissa has room, up to the largest offsets
            "OSD_2, BFFFFFFF, 2147483640", "OSD_2, C8000000, 2147483648",
            "OSD_1, 0FFFFFFF, 68719476480", "OSD_1, 18000000, 68719476736",
            "OSD_2, 7FFFFFFF, 8796092989440", "OSD_1, F8000000, 1125899906842624"})
    void shouldEncodeAndDecodeKnownOffsets(OsdVersion version, String encoded, long offset) {
        int bits = Integer.parseUnsignedInt(encoded, 16);
        assertThat(EncodedOffset.decode(bits, version)).hasValue(offset);
        assertThat(EncodedOffset.encode(offset, version)).isEqualTo(bits);
    }

    @ParameterizedTest
    @CsvSource({"OSD_2, 00000001, 256", "OSD_2, F0000001, 128", "OSD_2, 70000001, 32768",
            "OSD_2, B0000000, 0", "OSD_1, B0000001, 524288", "OSD_1, 80000001, 65536",
            "OSD_2, FFFFFFFE, 34359738112"})
    void shouldDecodeEveryExponent(OsdVersion version, String encoded, long offset) {
        assertThat(EncodedOffset.decode(Integer.parseUnsignedInt(encoded, 16), version))
                .hasValue(offset);
    }

    @ParameterizedTest
    @CsvSource({"OSD_2, 80000001", "OSD_2, 90000000", "OSD_2, AFFFFFFF", "OSD_2, FFFFFFFF",
            "OSD_1, FFFFFFFF"})
    void shouldDecodeNeitherUnusedNorIllegalExponents(OsdVersion version, String encoded) {
        assertThat(EncodedOffset.decode(Integer.parseUnsignedInt(encoded, 16), version)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"OSD_2, 4", "OSD_2, -8", "OSD_1, 8", "OSD_1, 255", "OSD_2, 9223372036854775800",
            // mantissa FFFFFFFh with exponent -1 would say that the field is not used
            "OSD_2, 34359738240"})
    void shouldRefuseOffsetsThatCannotBeEncoded(OsdVersion version, long offset) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EncodedOffset.encode(offset, version));
    }

    @ParameterizedTest
    @CsvSource({"OSD_2, 0, 0", "OSD_2, 1, 8", "OSD_2, 4097, 4104", "OSD_1, 1, 256",
            "OSD_1, 256, 256", "OSD_2, 2147483641, 2147483648", "OSD_2, 34359738233, 34359738368"})
    void shouldRoundUpToOffsetsThatCanBeEncoded(OsdVersion version, long offset, long rounded) {
        assertThat(EncodedOffset.roundUp(offset, version)).isEqualTo(rounded);
    }

    @Test
    void shouldNotRoundUpBeyondTheLargestOffset() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EncodedOffset.roundUp(8796092989441L, OsdVersion.OSD_2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EncodedOffset.roundUp(-1, OsdVersion.OSD_1));
    }

    @ParameterizedTest
    @EnumSource
    void shouldDecodeWhatItEncodesAfterRounding(OsdVersion version) {
        long seed = Seed.next();
        var random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            long offset = random.nextLong() >>> 21 + random.nextInt(40);
            long rounded = EncodedOffset.roundUp(offset, version);
            assertThat(rounded).as("seed %d, offset %d", seed, offset)
                    .isGreaterThanOrEqualTo(offset)
                    .isEqualTo(EncodedOffset.roundUp(rounded, version));
            assertThat(EncodedOffset.decode(EncodedOffset.encode(rounded, version), version))
                    .as("seed %d, offset %d", seed, offset).hasValue(rounded);
        }
    }
}
