package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ChunksTest {
    /** A quarter of this is 400 chunks. */
    private static final long DIRECT_BYTES = 100L << 20;
    private static final int MOST = 400;
    private static final int RESERVE = MOST / 16;
    private static final int USABLE = MOST - RESERVE;

    private final Chunks chunks = new Chunks(() -> DIRECT_BYTES);

    /** Holder of each chunk. */
    private final Map<Chunks.Chunk, Chunks.Holder> holders = new HashMap<>();
    /** Holders that were told to end and have not ended yet. */
    private final List<String> ended = new ArrayList<>();

    private Chunks.Holder holder(String name) { return new Chunks.Holder(_ -> ended.add(name)); }

    /** Takes a chunk for a holder without another one. */
    private Chunks.Chunk take() {
        return take(holder("?"));
    }

    private Chunks.Chunk take(Chunks.Holder by) {
        Chunks.Chunk taken = chunks.take(by);
        holders.put(taken, by);
        return taken;
    }

    private List<Chunks.Chunk> take(int count) {
        return Stream.generate(this::take).limit(count).toList();
    }

    private List<Chunks.Chunk> take(Chunks.Holder by, int count) {
        return Stream.generate(() -> take(by)).limit(count).toList();
    }

    private void give(Chunks.Chunk taken) { chunks.give(holders.get(taken), taken); }

    @Test
    void shouldStayWithinItsPartOfDirectMemory() {
        List<Chunks.Chunk> taken = take(MOST);
        assertThatExceptionOfType(OutputMemoryException.class).isThrownBy(this::take);
        assertThat(chunks.inUse()).isEqualTo(MOST);
        give(taken.getFirst());
        assertThat(take()).isSameAs(taken.getFirst());
    }

    @Test
    void shouldNotAllocateAllocatedChunksAgain() {
        List<Chunks.Chunk> taken = take(MOST);
        taken.forEach(this::give);
        assertThat(take(MOST)).containsExactlyInAnyOrderElementsOf(taken);
    }

    @Test
    void shouldShrinkSharesWithMoreUsers() {
        assertThat(chunks.isCrowdedBy(MOST / 16)).isFalse();
        assertThat(chunks.isCrowdedBy(MOST / 16 + 1)).isTrue();
        List<Chunks.Chunk> _ = take(MOST / 2);
        assertThat(chunks.isCrowdedBy(MOST / 2 / 16)).isFalse();
        assertThat(chunks.isCrowdedBy(MOST / 2 / 16 + 1)).isTrue();
        List<Chunks.Chunk> _ = take(MOST / 2);
        assertThat(chunks.isCrowdedBy(1)).as("its first").isFalse();
        assertThat(chunks.isCrowdedBy(2)).isTrue();
    }

    @Test
    void shouldNeverBeExhaustedByConnectionsWithinTheirShare() {
        int[] held = new int[1000];
        int before;
        do {
            before = chunks.inUse();
            for (int i = 0; i < held.length; i++) {
                if (chunks.inUse() < MOST && held[i] > 0 && !chunks.isCrowdedBy(held[i] + 1)) {
                    take();
                    held[i]++;
                } else if (held[i] == 0 && i < MOST / 4) {
                    take();
                    held[i]++;
                }
            }
        } while (chunks.inUse() > before);
        assertThat(chunks.inUse()).isLessThan(MOST);
    }

    @Test
    void shouldEndTheLargestHolderWhenOnlyTheReserveIsLeft() {
        var less = holder("less");
        var more = holder("more");
        take(less, USABLE / 2);
        List<Chunks.Chunk> most = take(more, USABLE / 2 + 1);
        assertThat(ended).isEmpty();
        take(RESERVE);
        assertThat(ended).as("one at a time").containsExactly("more");
        most.forEach(this::give);
        take(USABLE / 2 + 1 - RESERVE);
        assertThat(ended).hasSize(1);
        take();
        assertThat(ended).containsExactly("more", "less");
    }

    @Test
    void shouldDenyTheReserveToTheLargestHolder() {
        var greedy = holder("greedy");
        take(greedy, USABLE);
        assertThatExceptionOfType(OutputMemoryException.class).isThrownBy(() -> take(greedy));
        assertThat(ended).isEmpty();
        assertThat(take(RESERVE)).hasSize(RESERVE);
    }

    @Test
    void shouldEndTheOldestOfEqualHolders() {
        var returned = holder("returned");
        var held = holder("held");
        Chunks.Chunk first = take(returned);
        take(held);
        give(first);
        take(returned);
        take(USABLE - 2);
        take();
        assertThat(ended).containsExactly("held");
    }
}
