package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lunar.initiator.SessionOptions;
import lunar.scsi.Lun;
import org.junit.jupiter.api.Test;

class HoldLimitTest {
    private static final long OPENED = 7_000_000;
    private static final long HELD = 9_000_000;
    private static final long SECOND = 1_000_000_000;

    private static HoldLimit limit(long noPathMs) {
        return HoldLimit.of(MultipathOptions.of(
                List.of(SessionOptions.of("127.0.0.1", 3260, "iqn.2026-11.org.lunar:disk")),
                Lun.ZERO).withNoPathMs(noPathMs), OPENED);
    }

    @Test
    void shouldHoldWritesAsLongAsTheyWaitForAPath() {
        assertThat(limit(60_000).untilNanos(false, HELD)).isEqualTo(HELD + 60 * SECOND);
        assertThat(limit(0).untilNanos(false, HELD)).isEqualTo(HELD + 30 * SECOND);
        assertThat(limit(MultipathOptions.FOREVER).untilNanos(false, HELD)).isZero();
    }

    /** The members of a volume are opened together, and taken one after the other: that takes the time once. */
    @Test
    void shouldNotWaitForeverForSessionsOfAnEarlierProcess() {
        assertThat(limit(60_000).untilNanos(true, HELD)).isEqualTo(OPENED + 60 * SECOND);
        assertThat(limit(0).untilNanos(true, HELD)).isEqualTo(OPENED + 30 * SECOND);
        assertThat(limit(MultipathOptions.FOREVER).untilNanos(true, HELD))
                .isEqualTo(OPENED + 30 * SECOND);
    }
}
