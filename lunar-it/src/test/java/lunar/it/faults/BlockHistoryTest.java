package lunar.it.faults;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lunar.it.faults.BlockHistory.Flush;
import lunar.it.faults.BlockHistory.LostWriteException;
import org.junit.jupiter.api.Test;

class BlockHistoryTest {
    private final BlockHistory history = new BlockHistory(2);

    @Test
    void shouldRejectFlushThatConcealsLossOfOnlyCopy() {
        write(0);
        drop();
        Flush flush = history.flushBegins();
        assertThatThrownBy(() -> history.flushed(flush)).isInstanceOf(LostWriteException.class)
                .hasMessageContaining("write 1 of block 0");
    }

    @Test
    void shouldAcceptFlushAfterReportOfLoss() {
        write(0);
        drop();
        history.flushBegins();
        history.lossReported();
        history.flushEnds();
        write(1);
        assertThatCode(this::flush).doesNotThrowAnyException();
        assertThatCode(() -> history.check(history.beginRead(0, 1), 0, 0))
                .doesNotThrowAnyException();
        assertLost(1, 0);
    }

    @Test
    void shouldAcceptFlushAfterDropOfEmptyCache() {
        write(0);
        flush();
        drop();
        assertThatCode(this::flush).doesNotThrowAnyException();
        assertLost(0, 0);
    }

    @Test
    void shouldNotCountOnFlushBesideOneThatReportsTheLoss() {
        write(0);
        drop();
        history.flushBegins(); // is told of the loss, which is not known here yet
        flush();
        history.lossReported();
        history.flushEnds();
        assertThatCode(() -> history.check(history.beginRead(0, 1), 0, 0))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldRequireFlushedWritesAfterDrop() {
        write(0);
        flush();
        write(0);
        history.cacheDrops();
        history.cacheDropped();
        assertThatCode(() -> history.check(history.beginRead(0, 1), 0, 1))
                .doesNotThrowAnyException();
        assertLost(0, 0);
    }

    @Test
    void shouldAcceptOldContentsOfReadInFlightDuringDrop() {
        write(0);
        flush();
        write(0);
        BlockHistory.Read read = history.beginRead(0, 1);
        drop();
        assertThatCode(() -> history.check(read, 0, 1)).doesNotThrowAnyException();
        assertThatThrownBy(() -> history.check(read, 0, 0))
                .isInstanceOf(LostWriteException.class);
    }

    @Test
    void shouldAcceptFlushWhereAnotherOneMayHaveBeenSentAfterTheWrite() {
        BlockHistory.Write write = history.begin(0); // acknowledged here, which is not noted yet
        flush();
        history.acknowledged(write, false);
        drop();
        assertThatCode(this::flush).doesNotThrowAnyException();
    }

    private void assertLost(int block, long found) {
        BlockHistory.Read read = history.beginRead(block, 1);
        assertThatThrownBy(() -> history.check(read, block, found))
                .isInstanceOf(LostWriteException.class);
    }

    private void write(int block) { history.acknowledged(history.begin(block), false); }

    private void drop() {
        history.cacheDrops();
        history.onlyCacheDropped();
    }

    private void flush() {
        Flush flush = history.flushBegins();
        history.flushed(flush);
        history.flushEnds();
    }
}
