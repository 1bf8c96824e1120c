package lunar.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class TlsBuffersTest {
    @Test
    void shouldRefuseMoreThanTheLimitAndReuseWhatIsGivenBack() throws Exception {
        var buffers = new TlsBuffers(7);
        ByteBuffer[] first = buffers.take(3);
        ByteBuffer[] second = buffers.take(3);
        assertThatIOException().isThrownBy(() -> buffers.take(3))
                .withMessageContaining("raise -XX:MaxDirectMemorySize");
        assertThat(buffers.inUse()).isEqualTo(6);
        buffers.give(first[0]);
        buffers.give(second[1]);
        ByteBuffer[] third = buffers.take(3);
        assertThat(third).contains(first[0], second[1]).allMatch(each -> !each.hasRemaining());
        assertThat(buffers.inUse()).isEqualTo(7);
    }
}
