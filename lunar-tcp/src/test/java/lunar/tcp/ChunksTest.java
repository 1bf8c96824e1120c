package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChunksTest {
    /** A quarter of this is 400 chunks. */
    private static final long DIRECT_BYTES = 100L << 20;
    private static final int MOST = 400;

    private final Chunks chunks = new Chunks(() -> DIRECT_BYTES);

    private List<Chunks.Chunk> take(int count) {
        var taken = new ArrayList<Chunks.Chunk>();
        for (int i = 0; i < count; i++) {
            taken.add(chunks.take());
        }
        return taken;
    }

    @Test
    void shouldStayWithinItsPartOfDirectMemory() {
        List<Chunks.Chunk> taken = take(MOST);
        assertThatExceptionOfType(OutputMemoryException.class).isThrownBy(chunks::take);
        assertThat(chunks.inUse()).isEqualTo(MOST);
        chunks.give(taken.getFirst());
        assertThat(chunks.take()).isSameAs(taken.getFirst());
    }

    @Test
    void shouldAllocateNothingAnewThatWasAllocatedOnce() {
        List<Chunks.Chunk> taken = take(MOST);
        taken.forEach(chunks::give);
        assertThat(take(MOST)).containsExactlyInAnyOrderElementsOf(taken);
    }

    @Test
    void shouldLeaveTheLessToEachTheMoreAreInUse() {
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
    void shouldNeverBeFilledByConnectionsThatHeedTheirShare() {
        int[] held = new int[1000];
        int before;
        do {
            before = chunks.inUse();
            for (int i = 0; i < held.length; i++) {
                if (chunks.inUse() < MOST && held[i] > 0 && !chunks.isCrowdedBy(held[i] + 1)) {
                    chunks.take();
                    held[i]++;
                } else if (held[i] == 0 && i < MOST / 4) {
                    chunks.take();
                    held[i]++;
                }
            }
        } while (chunks.inUse() > before);
        assertThat(chunks.inUse()).isLessThan(MOST);
    }
}
