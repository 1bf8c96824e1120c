package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/** Tests that encoding and decoding are inverse, and that the decoder throws only declared exceptions. */
class CodecPropertyTest {
    private static final int ROUNDS = 3_000;

    private final long seed = Seed.next();
    private final RandomMessages messages = new RandomMessages(seed);
    private final Random random = new Random(seed);

    @Test
    void shouldDecodeWhatItEncodes() throws IsnsException {
        for (int round = 0; round < ROUNDS; round++) {
            Message sent = messages.next(12);
            assertThat(Wire.decode(MessageCodec.encode(sent, PduHeader.FROM_SERVER)))
                    .as("seed %d", seed).containsExactly(sent);
        }
    }

    @Test
    void shouldPutMessagesOfSeveralPdusTogether() throws IsnsException {
        for (int round = 0; round < 20; round++) {
            Message sent = messages.next(10_000);
            byte[] bytes = MessageCodec.encode(sent, PduHeader.FROM_CLIENT);
            assertThat(Wire.decode(bytes)).as("seed %d", seed).containsExactly(sent);
        }
    }

    @Test
    void shouldRejectHostileBytesInAnOrderlyWay() {
        int refused = 0;
        int taken = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = MessageCodec.encode(messages.next(12), PduHeader.FROM_SERVER);
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                // Mostly headers, of the PDU and of attributes: there the lengths are.
                int at = random.nextInt(Math.min(bytes.length, random.nextBoolean() ? 24 : 1_000));
                bytes[at] = (byte) (random.nextBoolean() ? random.nextInt() : 0xff);
            }
            try {
                Wire.decode(bytes).forEach(message -> {
                    MessageCodec.encode(message, PduHeader.FROM_CLIENT); // an answer may echo it
                    if (message instanceof Message.Response response) {
                        TargetQuery.targets(response);
                    }
                });
                taken++;
            } catch (IsnsException e) {
                assertThat(e).as("seed %d", seed).hasMessageNotContaining("null");
                refused++;
            }
        }
        assertThat(refused).as("refused, seed %d", seed).isGreaterThan(ROUNDS / 20);
        assertThat(taken).as("taken, seed %d", seed).isGreaterThan(ROUNDS / 20);
    }
}
