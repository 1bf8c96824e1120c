package lunar.osd.target.security;

import static org.assertj.core.api.Assertions.assertThat;

import lunar.osd.target.attribute.Values;
import lunar.osd.target.security.NonceWindow.Verdict;
import lunar.osd.wire.security.RequestNonce;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.Test;

/** Nonces are used once, whatever is forgotten. */
class NonceWindowTest {
    private static RequestNonce nonce(long timeMs, long random) {
        return new RequestNonce(timeMs, Values.number(random, 6));
    }

    @Test
    void shouldAdmitEachNonceOnce() {
        var window = new NonceWindow(8, 0);
        assertThat(window.admit(nonce(1000, 1), 1000, 100, 50)).isEqualTo(Verdict.UNIQUE);
        assertThat(window.admit(nonce(1000, 2), 1000, 100, 50)).isEqualTo(Verdict.UNIQUE);
        assertThat(window.admit(nonce(999, 1), 1000, 100, 50)).isEqualTo(Verdict.UNIQUE);
        assertThat(window.admit(nonce(1000, 1), 1000, 100, 50)).isEqualTo(Verdict.REPEATED);
        assertThat(window.admit(new RequestNonce(1000, Bytes.ofHex("000000000001")), 1000, 100,
                50)).isEqualTo(Verdict.REPEATED);
    }

    @Test
    void shouldKeepToLimits() {
        var window = new NonceWindow(8, 0);
        assertThat(window.admit(nonce(900, 1), 1000, 100, 50)).isEqualTo(Verdict.UNIQUE);
        assertThat(window.admit(nonce(899, 1), 1000, 100, 50)).isEqualTo(Verdict.OUT_OF_RANGE);
        assertThat(window.admit(nonce(1050, 1), 1000, 100, 50)).isEqualTo(Verdict.UNIQUE);
        assertThat(window.admit(nonce(1051, 1), 1000, 100, 50)).isEqualTo(Verdict.OUT_OF_RANGE);
        assertThat(window.admit(nonce((1L << 48) - 1, 1), 1000, 100, 50))
                .isEqualTo(Verdict.OUT_OF_RANGE);
    }

    @Test
    void shouldRefuseWhatItHasForgotten() {
        var window = new NonceWindow(2, 500);
        assertThat(window.admit(nonce(500, 1), 1000, 1000, 0)).isEqualTo(Verdict.OUT_OF_RANGE);
        for (int i = 1; i <= 4; i++) {
            assertThat(window.admit(nonce(500 + i, 1), 1000, 1000, 0))
                    .isEqualTo(Verdict.UNIQUE);
        }
        assertThat(window.admit(nonce(501, 1), 1000, 1000, 0)).isEqualTo(Verdict.OUT_OF_RANGE);
        assertThat(window.admit(nonce(502, 7), 1000, 1000, 0)).isEqualTo(Verdict.OUT_OF_RANGE);
        assertThat(window.admit(nonce(503, 1), 1000, 1000, 0)).isEqualTo(Verdict.REPEATED);
        assertThat(window.admit(nonce(503, 2), 1000, 1000, 0)).isEqualTo(Verdict.UNIQUE);
    }
}
