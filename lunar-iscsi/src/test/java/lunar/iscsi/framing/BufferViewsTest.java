package lunar.iscsi.framing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class BufferViewsTest {
    private final BufferViews views = new BufferViews();

    @Test
    void shouldGiveTheSameBufferForTheSameMemory() {
        for (MemorySegment memory : new MemorySegment[]{Arena.ofAuto().allocate(4096),
                DirectMemory.allocate(4096, 512)}) {
            ByteBuffer first = views.of(memory.asSlice(1024, 512));
            assertThat(views.of(memory.asSlice(1024, 512))).isSameAs(first);
            assertThat(views.of(memory.asSlice(1024, 511))).isNotSameAs(first);
            assertThat(views.of(memory.asSlice(1025, 512))).isNotSameAs(first);
            assertThat(views.of(memory.asSlice(1024, 512).asReadOnly()).isReadOnly()).isTrue();
            assertThat(first.isReadOnly()).isFalse();
        }
    }

    @Test
    void shouldShowEachOfMoreSegmentsThanItKeeps() {
        for (MemorySegment memory : new MemorySegment[]{Arena.ofAuto().allocate(1 << 20),
                DirectMemory.allocate(1 << 20, 4096)}) {
            for (int i = 0; i < 1024; i++) {
                memory.set(ValueLayout.JAVA_INT, i * 1024L, i);
            }
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 1024; i++) {
                    ByteBuffer view = views.of(memory.asSlice(i * 1024L, 1024 - i % 7));
                    assertThat(Integer.reverseBytes(view.getInt(0))).isEqualTo(i);
                    assertThat(view.capacity()).isEqualTo(1024 - i % 7);
                }
            }
        }
    }

    @Test
    void shouldNotConfuseNewMemoryWithFreedMemory() {
        long address;
        ByteBuffer before;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gone = arena.allocate(4096);
            address = gone.address();
            before = views.of(gone);
        }
        assertThatIllegalStateException().isThrownBy(() -> before.get(0));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment next = arena.allocate(4096);
            assumeThat(next.address()).isEqualTo(address);
            next.set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
            assertThat(views.of(next).get(0)).isEqualTo((byte) 7);
        }
    }

    @Test
    void shouldKeepNoMemoryAlive() throws InterruptedException {
        for (WeakReference<?> scope : List.of(useOnce(Arena.ofAuto().allocate(4096)),
                useOnce(DirectMemory.allocate(4096, 512)))) {
            for (int i = 0; i < 6000 && !scope.refersTo(null); i++) {
                System.gc();
                Thread.sleep(10);
            }
            assertThat(scope.refersTo(null)).as("memory is let go").isTrue();
        }
    }

    /** In a method of its own, whose variables end with it. */
    private WeakReference<?> useOnce(MemorySegment memory) {
        views.of(memory).put(0, (byte) 1);
        return new WeakReference<>(memory.scope());
    }

    @Test
    void shouldAlignDirectMemoryAndKeepItAsLongAsAPartOfIt() {
        MemorySegment part = DirectMemory.allocate(100, 4096);
        assertThat(part.address() % 4096).isZero();
        assertThat(part.byteSize()).isEqualTo(100);
        assertThat(part.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        part = part.asSlice(10, 20);
        System.gc();
        part.set(ValueLayout.JAVA_BYTE, 3, (byte) 9);
        ByteBuffer view = views.of(part);
        assertThat(view.get(3)).isEqualTo((byte) 9);
        assertThat(view.capacity()).isEqualTo(20);
    }

    @Test
    void shouldRejectTheHeap() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> views.of(MemorySegment.ofArray(new byte[8])));
    }
}
