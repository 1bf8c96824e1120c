package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import lunar.block.BlockRequest;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.primary.TargetPortGroups;
import org.junit.jupiter.api.Test;

class PathPolicyTest {
    private static final BlockRequest REQUEST = new BlockRequest().asFlush();

    private record Still(int index, int inFlight, long serviceNanos) implements Path {
        @Override
        public TargetAddress portal() {
            return new TargetAddress("host", 3260, OptionalInt.empty());
        }

        @Override
        public State state() { return State.UP; }

        @Override
        public TargetPortGroups.State access() { return TargetPortGroups.State.ACTIVE_OPTIMIZED; }

        @Override
        public long completed() { return 0; }

        @Override
        public long failures() { return 0; }
    }

    private static List<Integer> choices(PathPolicy policy, int count, Path... paths) {
        return IntStream.range(0, count)
                .mapToObj(_ -> policy.choose(List.of(paths), REQUEST).index()).toList();
    }

    @Test
    void shouldUseEachInTurn() {
        assertThat(choices(PathPolicy.roundRobin(), 6, new Still(0, 9, 9), new Still(1, 0, 0),
                new Still(2, 0, 0))).containsExactly(0, 1, 2, 0, 1, 2);
    }

    @Test
    void shouldUseTheShortestQueue() {
        assertThat(choices(PathPolicy.leastQueue(), 1, new Still(0, 3, 1), new Still(1, 2, 99),
                new Still(2, 2, 1))).containsExactly(1);
    }

    @Test
    void shouldUseTheEarliest() {
        assertThat(choices(PathPolicy.serviceTime(), 1, new Still(0, 9, 100),
                new Still(1, 0, 1001), new Still(2, 3, 251))).containsExactly(0);
        assertThat(choices(PathPolicy.serviceTime(), 1, new Still(0, 0, 50), new Still(1, 5, 0)))
                .as("one that nobody has tried").containsExactly(1);
    }

    @Test
    void shouldStayWithTheFirst() {
        assertThat(choices(PathPolicy.fixed(), 3, new Still(4, 9, 9), new Still(5, 0, 0)))
                .containsExactly(4, 4, 4);
    }
}
