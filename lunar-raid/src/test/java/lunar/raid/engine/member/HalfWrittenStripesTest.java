package lunar.raid.engine.member;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HalfWrittenStripesTest {
    private static final int MAX_OF_RESYNCS = HalfWrittenStripes.MAX / 2;

    private final HalfWrittenStripes stripes = new HalfWrittenStripes();

    /** What resyncs cannot restore must not keep writes out. */
    @Test
    void shouldLeaveRoomForWritesBesideTheStripesOfResyncs() {
        for (long stripe = 0; stripe < MAX_OF_RESYNCS; stripe++) {
            assertThat(stripes.addLeft(stripe, false)).isTrue();
        }
        assertThat(stripes.addLeft(MAX_OF_RESYNCS, true)).isFalse();
        assertThat(stripes.contains(MAX_OF_RESYNCS)).isFalse();
        assertThat(stripes.addLeft(1, true)).as("is in it already").isTrue();
        assertThat(stripes.isWrong(1)).isTrue();
        assertThat(stripes.isWrong(2)).isFalse();
        assertThat(stripes.isFull(MAX_OF_RESYNCS)).isFalse();
    }

    @Test
    void shouldAddStripesOfWritesInProgressBeyondItsLimit() {
        for (long stripe = 0; stripe < HalfWrittenStripes.MAX; stripe++) {
            assertThat(stripes.isFull(stripe)).isFalse();
            stripes.add(stripe);
        }
        assertThat(stripes.isFull(0)).as("is in it already").isFalse();
        assertThat(stripes.isFull(HalfWrittenStripes.MAX)).isTrue();
        stripes.add(HalfWrittenStripes.MAX); // had begun
        assertThat(stripes.isWrong(HalfWrittenStripes.MAX)).isTrue();
        stripes.remove(0);
        stripes.remove(1);
        assertThat(stripes.isFull(0)).isFalse();
    }
}
