package lunar.rdma.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProcessMemoryTest {
    private static final int ESRCH = 3;

    private final int own = (int) ProcessHandle.current().pid();
    private final Arena arena = Arena.ofConfined();
    private ProcessMemory memory;

    @BeforeEach
    void open() {
        assumeTrue(ProcessMemory.isAvailable());
        memory = new ProcessMemory(arena.allocate(ProcessMemory.bytes(3), 8));
    }

    @AfterEach
    void close() { arena.close(); }

    @Test
    void shouldScatterAndGather() {
        MemorySegment remote = arena.allocateFrom("abcdefghij");
        MemorySegment pieces = arena.allocate(30);
        memory.piece(0, pieces.address(), 1);
        memory.piece(1, pieces.address() + 10, 4);
        memory.piece(2, pieces.address() + 20, 5);
        assertThat(memory.read(own, 3, remote.address(), 10)).isZero();
        assertThat(pieces.getString(0)).isEqualTo("a");
        assertThat(pieces.getString(10)).isEqualTo("bcde");
        assertThat(pieces.getString(20)).isEqualTo("fghij");
        pieces.setString(20, "FGHIJ");
        assertThat(memory.write(own, 3, remote.address(), 10)).isZero();
        assertThat(remote.getString(0)).isEqualTo("abcdeFGHIJ");
    }

    @Test
    void shouldReportErrors() {
        memory.piece(0, arena.allocate(8).address(), 8);
        assertThat(memory.read(own, 1, 16, 8)).isEqualTo(ProcessMemory.EFAULT);
        assertThat(memory.read(Integer.MAX_VALUE, 1, 16, 8)).isEqualTo(ESRCH);
    }
}
