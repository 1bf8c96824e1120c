package lunar.fs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class NamesTest {
    @Test
    void shouldTurnAnyBytesIntoTextAndBack() {
        long seed = Seed.next();
        var random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(12)];
            random.nextBytes(bytes);
            assertThat(Names.encode(Names.decode(bytes))).as("seed " + seed).isEqualTo(bytes);
        }
    }

    @Test
    void shouldKeepText() {
        assertThat(Names.decode("Grüße 🌙".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .isEqualTo("Grüße 🌙");
        assertThat(Names.decode(new byte[]{'a', (byte) 0xff, 'b'})).isEqualTo("a\udcffb");
    }

    @Test
    void shouldNotFollowLinksOutOfTheDirectory() {
        assertThat(Names.printable("a\nb\u001b[31m\u202e\udcff\u2028🌙é"))
                .isEqualTo("a\ufffdb\ufffd[31m\ufffd\ufffd\ufffd🌙é");
    }
}
