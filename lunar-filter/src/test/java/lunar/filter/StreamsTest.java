package lunar.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class StreamsTest {
    private static final long DEVICE = 1 << 20;
    private static final long WINDOW = 64;

    private final Streams streams = new Streams(WINDOW);

    @Test
    void shouldNotReadAheadOfRandomReads() {
        var random = new Random(1);
        for (int i = 0; i < 1000; i++) {
            assertThat(streams.read(random.nextInt((int) DEVICE / 8) * 8L, 7, DEVICE, true))
                    .isNull();
        }
    }

    @Test
    void shouldGrowTheWindowAndFillItUpWhenHalfOfItIsUsed() {
        assertThat(streams.read(0, 8, DEVICE, true)).isNull();
        assertThat(streams.read(8, 8, DEVICE, true)).isEqualTo(new Streams.Ahead(16, 16));
        assertThat(streams.read(16, 8, DEVICE, true)).isEqualTo(new Streams.Ahead(32, 24));
        assertThat(streams.read(24, 8, DEVICE, true)).isEqualTo(new Streams.Ahead(56, 40));
        assertThat(streams.read(32, 8, DEVICE, true)).isNull();
        long ahead = 96;
        for (long lba = 40; lba < 10_000; lba += 8) {
            Streams.Ahead more = streams.read(lba, 8, DEVICE, true);
            if (more != null) {
                assertThat(more.lba()).isEqualTo(ahead);
                ahead += more.blockCount();
            }
            assertThat(ahead - lba - 8).isBetween(WINDOW / 2, WINDOW);
        }
    }

    @Test
    void shouldDistinguishSeveralStreamsAmongRandomReads() {
        var random = new Random(2);
        var ahead = new long[4];
        for (int i = 0; i < 200; i++) {
            for (int stream = 0; stream < 4; stream++) {
                Streams.Ahead more = streams.read(stream * 100_000L + i * 8L, 8, DEVICE, true);
                ahead[stream] += more == null ? 0 : more.blockCount();
                for (int noise = 0; noise < 5; noise++) {
                    streams.read(500_000 + random.nextInt(30_000) * 16L, 8, DEVICE, true);
                }
            }
        }
        for (long blocks : ahead) {
            assertThat(blocks).isBetween(198 * 8L, 198 * 8L + WINDOW);
        }
    }

    @Test
    void shouldDetectStreamsOfSlightlyReorderedReads() {
        streams.read(0, 8, DEVICE, true);
        assertThat(streams.read(8, 8, DEVICE, true)).isEqualTo(new Streams.Ahead(16, 16));
        assertThat(streams.read(24, 8, DEVICE, true)).isEqualTo(new Streams.Ahead(32, 32));
        assertThat(streams.read(16, 8, DEVICE, true)).isEqualTo(new Streams.Ahead(64, 32));
        assertThat(streams.read(32, 8, DEVICE, true)).isNull();
    }

    @Test
    void shouldNotReadBeyondTheEndNorWhenItMayNot() {
        streams.read(DEVICE - 24, 8, DEVICE, true);
        assertThat(streams.read(DEVICE - 16, 8, DEVICE, false)).isNull();
        assertThat(streams.read(DEVICE - 8, 8, DEVICE, true)).isNull();
        streams.read(DEVICE - 48, 8, DEVICE, true);
        assertThat(streams.read(DEVICE - 40, 8, DEVICE, true))
                .isEqualTo(new Streams.Ahead(DEVICE - 32, 16));
    }
}
