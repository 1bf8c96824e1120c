package lunar.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.block.spi.RequestCompletion;
import org.junit.jupiter.api.Test;

class BlockRequestTest {
    @Test
    void shouldCompleteWithAFailureWhenTheBufferIsGone() {
        MemorySegment buffer;
        try (Arena arena = Arena.ofConfined()) {
            buffer = arena.allocate(512);
        }
        var future = new ToyDevice(100).submitFuture(new BlockRequest().asRead(0, 1, buffer));
        assertThat(future.exceptionNow()).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void shouldCopyTheOperationButNotTheCompletion() {
        boolean[] completed = {false};
        BlockRequest first = new BlockRequest()
                .asWrite(3, 2, MemorySegment.ofArray(new byte[1024]), false)
                .onCompletion((_, _) -> completed[0] = true);
        BlockRequest copy = new BlockRequest().asCopyOf(first);
        assertThat(copy).hasToString("WRITE lba=3 blocks=2");
        RequestCompletion.succeed(copy);
        assertThat(completed[0]).isFalse();
        RequestCompletion.succeed(first);
        assertThat(completed[0]).isTrue();
    }
}
