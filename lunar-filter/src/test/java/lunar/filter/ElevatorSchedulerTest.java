package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockRequest.Operation;
import lunar.filter.RequestScheduler.Waiting;
import org.junit.jupiter.api.Test;

class ElevatorSchedulerTest {
    private record Request(long lba, long arrivedNanos, long order) implements Waiting {
        @Override
        public Operation operation() { return Operation.READ; }

        @Override
        public long blockCount() { return 1; }
    }

    private final RequestScheduler elevator = new ElevatorScheduler(1000);
    private long order;

    private Request add(long lba, long arrivedNanos) {
        var request = new Request(lba, arrivedNanos, order++);
        elevator.add(request);
        return request;
    }

    private List<Long> all(long nowNanos) {
        var lbas = new ArrayList<Long>();
        for (Waiting next = elevator.next(nowNanos); next != null; next = elevator.next(nowNanos)) {
            lbas.add(next.lba());
        }
        return lbas;
    }

    @Test
    void shouldWrapAroundToTheLowest() {
        add(50, 0);
        add(10, 0);
        Request gone = add(60, 0);
        add(50, 0);
        add(70, 0);
        elevator.remove(gone);
        assertThat(all(0)).containsExactly(10L, 50L, 50L, 70L);
        add(5, 0);
        add(71, 0);
        assertThat(all(0)).as("on from where it was").containsExactly(71L, 5L);
    }

    @Test
    void shouldServeOverdueRequestsFirstAndContinueFromThere() {
        add(100, 0);
        assertThat(all(0)).containsExactly(100L);
        add(50, 0);
        add(101, 500);
        add(60, 500);
        assertThat(all(1000)).containsExactly(50L, 60L, 101L);
    }

    /** All are late, so the order of arrival would be that of a device without an elevator. */
    @Test
    void shouldKeepTheOrderOfBlocksForMostWhenAllAreLate() {
        for (int i = 0; i < 64; i++) {
            add(i * 37 % 64, 0);
        }
        List<Long> chosen = all(5000);
        long back = 0;
        for (int i = 1; i < chosen.size(); i++) {
            back += chosen.get(i) < chosen.get(i - 1) ? 1 : 0;
        }
        assertThat(chosen).hasSize(64);
        assertThat(back).as("ways back").isLessThan(10);
    }

    /** With an endless stream of reads at lower blocks, the request waits for its deadline and not much longer. */
    @Test
    void shouldStarveNoRequest() {
        add(5, 0);
        elevator.next(0);
        Request victim = add(0, 1);
        long lba = 6;
        for (int step = 0; step < 2000; step++) {
            add(lba++, step);
            if (victim.equals(elevator.next(step))) {
                assertThat(step).isBetween(1000, 1001 + ElevatorScheduler.BATCH);
                return;
            }
        }
        assertThat(elevator).as("it never came").isNull();
    }
}
