package lunar.osd.s3.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Check values of the catalogue of parametrised CRC algorithms, and of FIPS 180-4. */
class ChecksumAlgorithmTest {
    @ParameterizedTest
    @CsvSource({"CRC32,cbf43926", "CRC32C,e3069283", "CRC64NVME,ae8b14860a799888",
            "SHA1,f7c3bc1d808e04732adf679965ccc34ca7ae3441",
            "SHA256,15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"})
    void shouldComputeChecksumOf123456789(ChecksumAlgorithm algorithm, String expected) {
        RunningChecksum checksum = algorithm.start();
        byte[] data = "x123456789y".getBytes(StandardCharsets.US_ASCII);
        checksum.update(data, 1, 4);
        checksum.update(data, 5, 5);
        assertThat(HexFormat.of().formatHex(checksum.value())).isEqualTo(expected);
    }

    @Test
    void shouldNotDependOnPieces() {
        var data = new byte[1000];
        new Random(1).nextBytes(data);
        for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
            RunningChecksum whole = algorithm.start();
            whole.update(data, 0, data.length);
            byte[] expected = whole.value();
            RunningChecksum pieces = algorithm.start();
            for (int at = 0, length = 1; at < data.length; at += length, length++) {
                pieces.update(data, at, Math.min(length, data.length - at));
            }
            assertThat(pieces.value()).hasSize(algorithm.length()).isEqualTo(expected);
        }
    }

    @Test
    void shouldKnowHeaders() {
        assertThat(ChecksumAlgorithm.ofHeader("x-amz-checksum-crc64nvme"))
                .contains(ChecksumAlgorithm.CRC64NVME);
        assertThat(ChecksumAlgorithm.ofHeader("x-amz-checksum-type")).isEmpty();
        assertThat(ChecksumAlgorithm.CRC32C.header()).isEqualTo("x-amz-checksum-crc32c");
    }

    @Test
    void shouldRefuseChecksumsOfAnotherLength() {
        assertThat(ObjectChecksum.of(ChecksumAlgorithm.CRC32, "AAAAAA==")).isPresent();
        assertThat(ObjectChecksum.of(ChecksumAlgorithm.CRC32, "AAAA")).isEmpty();
        assertThat(ObjectChecksum.of(ChecksumAlgorithm.CRC32, "%%%%")).isEmpty();
    }
}
