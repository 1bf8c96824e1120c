package lunar.iscsi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SerialNumbersTest {
    @Test
    void shouldOrderNumbersOfOneTurn() {
        assertThat(SerialNumbers.lessThan(1, 2)).isTrue();
        assertThat(SerialNumbers.lessThan(2, 1)).isFalse();
        assertThat(SerialNumbers.lessThan(2, 2)).isFalse();
        assertThat(SerialNumbers.lessOrEqual(2, 2)).isTrue();
        assertThat(SerialNumbers.lessOrEqual(3, 2)).isFalse();
        assertThat(SerialNumbers.max(7, 9)).isEqualTo(9);
    }

    @Test
    void shouldOrderNumbersAcrossTheWrap() {
        assertThat(SerialNumbers.lessThan(0xffff_ffff, 0)).isTrue();
        assertThat(SerialNumbers.lessThan(0, 0xffff_ffff)).isFalse();
        assertThat(SerialNumbers.lessThan(0x7fff_ffff, 0x8000_0000)).isTrue();
        assertThat(SerialNumbers.max(0xffff_fff0, 4)).isEqualTo(4);
        assertThat(SerialNumbers.difference(2, 0xffff_fffe)).isEqualTo(4);
        assertThat(SerialNumbers.difference(0xffff_fffe, 2)).isEqualTo(-4);
    }

    @Test
    void shouldGiveNoOrderToNumbersHalfATurnApart() {
        int near = 5;
        int far = near + 0x8000_0000;
        assertThat(SerialNumbers.lessThan(near, far)).isFalse();
        assertThat(SerialNumbers.lessThan(far, near)).isFalse();
        assertThat(SerialNumbers.lessOrEqual(near, far)).isFalse();
        assertThat(SerialNumbers.lessThan(near, far - 1)).isTrue();
        assertThat(SerialNumbers.lessThan(far + 1, near)).isTrue();
    }
}
