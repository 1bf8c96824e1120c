package lunar.iser.connection;

import static org.assertj.core.api.Assertions.assertThat;

import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class IserKeysTest {
    @ParameterizedTest
    @EnumSource(value = DigestChoice.class, names = "REQUIRE_CRC32C",
            mode = EnumSource.Mode.EXCLUDE)
    void shouldOfferNeitherDigestsNorErrorRecovery(DigestChoice wanted) {
        Offer offer = IserKeys.adapt(Offer.DEFAULT.withHeaderDigest(wanted)
                .withDataDigest(wanted).withErrorRecoveryLevel(2), false);
        assertThat(offer.headerDigest()).isEqualTo(DigestChoice.NONE);
        assertThat(offer.dataDigest()).isEqualTo(DigestChoice.NONE);
        assertThat(offer.errorRecoveryLevel()).isZero();
        assertThat(offer.initialR2t()).isTrue();
        assertThat(offer.immediateData()).isTrue();
    }

    @Test
    void shouldKeepARequiredDigest() {
        Offer offer = IserKeys.adapt(
                Offer.DEFAULT.withDataDigest(DigestChoice.REQUIRE_CRC32C), false);
        assertThat(offer.dataDigest()).isEqualTo(DigestChoice.REQUIRE_CRC32C);
    }

    @ParameterizedTest
    @CsvSource({"262144,8192", "8192,8192", "4096,4096"})
    void shouldLimitDataSegmentsToTheReceiveBuffer(int wanted, int length) {
        Offer offer = IserKeys.adapt(
                Offer.DEFAULT.withMaxReceiveDataSegmentLength(wanted), false);
        assertThat(offer.maxReceiveDataSegmentLength()).isEqualTo(length);
        Offer.Iser iser = offer.iser().orElseThrow();
        assertThat(iser.initiatorReceiveDataSegmentLength()).isEqualTo(length);
        assertThat(iser.targetReceiveDataSegmentLength()).isEqualTo(length);
        assertThat(iser.taggedBufferForSolicitedDataOnly()).isTrue();
        assertThat(iser.helloRequired()).isFalse();
    }
}
