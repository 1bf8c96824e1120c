package lunar.osd.wire.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that encoding and decoding are inverse, and that the decoder throws only declared exceptions. */
class CdbPropertyTest {
    private static final int ROUNDS = 20_000;

    private final long seed = Seed.next();
    private final RandomOsdCdbs cdbs = new RandomOsdCdbs(seed);
    private final Random random = new Random(seed);

    @ParameterizedTest
    @EnumSource
    void shouldDecodeWhatItEncodes(OsdVersion version) throws Exception {
        Map<ServiceAction, Integer> seen = new EnumMap<>(ServiceAction.class);
        for (int round = 0; round < ROUNDS; round++) {
            OsdCdb cdb = cdbs.next(version);
            byte[] bytes = cdb.bytes();
            OsdCdb decoded = OsdCdbDecoder.decode(MemorySegment.ofArray(bytes).asReadOnly());
            assertThat(decoded).as("seed %d, round %d", seed, round).isEqualTo(cdb);
            assertThat(decoded.bytes()).as("seed %d, round %d", seed, round).isEqualTo(bytes);
            assertThat(decoded.direction()).isEqualTo(cdb.direction());
            seen.merge(cdb.action(), 1, Integer::sum);
        }
        for (ServiceAction action : ServiceAction.values()) {
            assertThat(seen.containsKey(action)).as("%s, seed %d", action, seed)
                    .isEqualTo(action.hasLayout() && action.isIn(version));
        }
    }

    @Test
    void shouldRejectHostileBytesInAnOrderlyWay() {
        int refused = 0;
        int taken = 0;
        for (int round = 0; round < 10 * ROUNDS; round++) {
            byte[] bytes = cdbs.next(OsdVersion.values()[random.nextInt(2)]).bytes();
            for (int i = 1 + random.nextInt(6); i > 0; i--) {
                int at = random.nextInt(random.nextBoolean() ? 80 : bytes.length);
                bytes[at] = (byte) (random.nextBoolean() ? random.nextInt() : 0xff);
            }
            if (random.nextInt(8) == 0) {
                random.nextBytes(bytes);
                bytes[0] = 0x7f;
            }
            MemorySegment given = MemorySegment.ofArray(bytes);
            if (random.nextInt(16) == 0) {
                given = given.asSlice(0, random.nextInt(bytes.length));
            }
            try {
                OsdCdb cdb = OsdCdbDecoder.decode(given);
                // It may have had reserved bits, but has no value that cannot be encoded.
                assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(cdb.bytes())))
                        .as("seed %d, round %d", seed, round).isEqualTo(cdb);
                taken++;
            } catch (InvalidCdbException e) {
                refused++;
            }
        }
        assertThat(refused).as("refused, seed %d", seed).isGreaterThan(ROUNDS);
        assertThat(taken).as("taken, seed %d", seed).isGreaterThan(ROUNDS);
    }
}
