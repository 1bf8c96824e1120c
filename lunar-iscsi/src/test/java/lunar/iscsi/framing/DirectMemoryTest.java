package lunar.iscsi.framing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DirectMemoryTest {
    private static final long HEAP_BYTES = 123L << 20;

    @Test
    void shouldReadTheLimitOfTheJvmFromItsOptions() {
        assertThat(limit()).isEqualTo(HEAP_BYTES);
        assertThat(limit("-Xmx1g", "-XX:MaxDirectMemorySize=64m")).isEqualTo(64L << 20);
        assertThat(limit("-XX:MaxDirectMemorySize=1M", "-XX:MaxDirectMemorySize=3G"))
                .isEqualTo(3L << 30);
        assertThat(limit("-XX:MaxDirectMemorySize=4096k")).isEqualTo(4L << 20);
        assertThat(limit("-XX:MaxDirectMemorySize=1048576")).isEqualTo(1L << 20);
        assertThat(limit("-XX:MaxDirectMemorySize=0")).isEqualTo(HEAP_BYTES);
    }

    private static long limit(String... options) {
        return DirectMemory.limitBytes(List.of(options), HEAP_BYTES);
    }
}
