package lunar.iscsi.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Random;
import lunar.iscsi.session.CommandWindow.Verdict;
import org.junit.jupiter.api.Test;

class CommandWindowTest {
    private static final long SEED = Long.getLong("lunar.seed", 20_260_101L);

    @Test
    void shouldStartWithTheWholeWindowOpenAndTheLoginNumberUnused() {
        var window = new CommandWindow(7, 4);

        assertThat(window.expCmdSn()).isEqualTo(7);
        assertThat(window.maxCmdSn()).isEqualTo(10);
    }

    @Test
    void shouldDeliverInOrderAndCloseWhenFull() {
        var window = new CommandWindow(7, 2);

        assertThat(window.accept(7, false)).isEqualTo(Verdict.DELIVER);
        assertThat(window.accept(8, false)).isEqualTo(Verdict.DELIVER);
        assertThat(window.maxCmdSn()).isEqualTo(window.expCmdSn() - 1);
        assertThat(window.accept(9, false)).isEqualTo(Verdict.IGNORE);
        window.finished();
        assertThat(window.accept(9, false)).isEqualTo(Verdict.DELIVER);
    }

    @Test
    void shouldIgnoreDuplicatesBeforeAndInsideTheWindow() {
        var window = new CommandWindow(0, 8);
        window.accept(0, false);

        assertThat(window.accept(0, false)).isEqualTo(Verdict.IGNORE);
        assertThat(window.accept(3, false)).isEqualTo(Verdict.HOLD);
        assertThat(window.accept(3, false)).isEqualTo(Verdict.IGNORE);
        assertThat(window.heldCount()).isEqualTo(1);
    }

    @Test
    void shouldIgnoreEverythingOutsideTheWindow() {
        var window = new CommandWindow(0xffff_fffe, 4); // to 1

        assertThat(window.accept(2, false)).isEqualTo(Verdict.IGNORE);
        assertThat(window.accept(0xffff_fffd, false)).isEqualTo(Verdict.IGNORE);
        assertThat(window.accept(0x7fff_ffff, false)).isEqualTo(Verdict.IGNORE);
        assertThat(window.accept(1, false)).isEqualTo(Verdict.HOLD);
        assertThat(window.nextIsHeld()).isFalse();
    }

    @Test
    void shouldDeliverImmediateCommandsWhateverTheirNumber() {
        var window = new CommandWindow(5, 1);
        window.accept(5, false);

        for (int cmdSn : new int[]{5, 6, 0, 0x8000_0005}) {
            assertThat(window.accept(cmdSn, true)).isEqualTo(Verdict.DELIVER);
        }
        assertThat(window.expCmdSn()).isEqualTo(6);
        assertThat(window.inFlightCount()).isEqualTo(1);
    }

    @Test
    void shouldNeverShrinkTheAdvertisedWindow() {
        var window = new CommandWindow(0, 8);
        window.limit(2);

        assertThat(window.maxCmdSn()).isEqualTo(7);
        for (int cmdSn = 0; cmdSn < 8; cmdSn++) {
            assertThat(window.accept(cmdSn, false)).isEqualTo(Verdict.DELIVER);
        }
        assertThat(window.maxCmdSn()).isEqualTo(7);
        for (int i = 0; i < 6; i++) {
            window.finished();
        }
        assertThat(window.maxCmdSn()).isEqualTo(7);
        window.finished();
        assertThat(window.maxCmdSn()).isEqualTo(8);
    }

    @Test
    void shouldAcceptADroppedCommandAgain() {
        var window = new CommandWindow(0, 8);
        window.accept(2, false);
        window.forget(2);
        window.forget(3);

        assertThat(window.heldCount()).isZero();
        assertThat(window.accept(2, false)).isEqualTo(Verdict.HOLD);
    }

    @Test
    void shouldRejectMisuse() {
        var window = new CommandWindow(0, 1);

        assertThatThrownBy(window::finished).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(window::releaseHeld).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> window.limit(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CommandWindow(0, CommandWindow.MAX_LIMIT + 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldDeliverCommandsOnceAndInOrderAcrossConnections() {
        var random = new Random(SEED);
        for (int run = 0; run < 200; run++) {
            // Both places where a comparison of plain ints goes wrong, unsigned and signed.
            int first = (run % 2 == 0 ? 0xffff_ffff : 0x7fff_ffff) - random.nextInt(300);
            int limit = 1 + random.nextInt(run % 10 == 0 ? CommandWindow.MAX_LIMIT : 40);
            deliverAll(random, new CommandWindow(first, limit), first);
        }
    }

    private static void deliverAll(Random random, CommandWindow window, int first) {
        var initiator = new CommandNumbering(first);
        initiator.update(window.expCmdSn(), window.maxCmdSn());
        var onTheWire = new ArrayList<Integer>();
        var held = new HashMap<Integer, Boolean>();
        int delivered = 0;
        for (int round = 0; delivered < 400; round++) {
            assertThat(round).as("rounds, seed %d: the window is stuck", SEED).isLessThan(100_000);
            while (initiator.canSend() && random.nextInt(4) > 0) {
                onTheWire.add(initiator.next());
            }
            Collections.shuffle(onTheWire, random);
            for (int cmdSn : onTheWire) {
                switch (window.accept(cmdSn, false)) {
                    case DELIVER -> {
                        assertThat(cmdSn).as("seed %d", SEED).isEqualTo(first + delivered++);
                        while (window.nextIsHeld()) {
                            int next = window.releaseHeld();
                            assertThat(held.remove(next)).isTrue();
                            assertThat(next).as("seed %d", SEED).isEqualTo(first + delivered++);
                        }
                    }
                    case HOLD -> held.put(cmdSn, true);
                    case IGNORE -> throw new AssertionError("ignored, seed " + SEED);
                }
                assertThat(window.accept(cmdSn, false)).isEqualTo(Verdict.IGNORE);
            }
            onTheWire.clear();
            while (window.inFlightCount() > 0 && random.nextInt(3) > 0) {
                window.finished();
                int max = window.maxCmdSn();
                window.limit(1 + random.nextInt(64));
                assertThat(max - window.maxCmdSn()).as("seed %d", SEED).isLessThanOrEqualTo(0);
            }
            initiator.update(window.expCmdSn(), window.maxCmdSn());
            assertThat(window.maxCmdSn() - window.expCmdSn() + 1)
                    .isBetween(0, CommandWindow.MAX_LIMIT);
        }
        assertThat(held).isEmpty();
    }
}
