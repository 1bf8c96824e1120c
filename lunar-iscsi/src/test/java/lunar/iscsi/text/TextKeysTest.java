package lunar.iscsi.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.iscsi.ProtocolException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextKeysTest {
    private static final long SEED = Long.getLong("lunar.seed", 7143);

    @Test
    void shouldReadPairsInOrder() throws Exception {
        var keys = TextKeys.parse(text("InitiatorName=iqn.a:b\0TargetAlias=\0X-org.a=1=2\0"), 3);
        assertThat(keys.pairs()).containsExactly(new KeyValue("InitiatorName", "iqn.a:b"),
                new KeyValue("TargetAlias", ""), new KeyValue("X-org.a", "1=2"));
    }

    @Test
    void shouldReadNoKeysFromNoBytes() throws Exception {
        assertThat(TextKeys.parse(MemorySegment.NULL, 1)).isEqualTo(TextKeys.NONE);
    }

    @Test
    void shouldPassOverZeroBytesBetweenPairs() throws Exception {
        assertThat(TextKeys.parse(text("A=1\0\0\0B=2\0\0"), 2).pairs()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"A=1", "A\0", "=1\0", "A B=1\0", "A=1\0B=2", "\u00e4=1\0"})
    void shouldRejectInvalidKeyValues(String text) {
        assertThatThrownBy(() -> TextKeys.parse(text(text), 9))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectValuesThatAreNotUtf8() {
        byte[] bytes = {'A', '=', (byte) 0xc0, (byte) 0x80, 0};
        assertThatThrownBy(() -> TextKeys.parse(MemorySegment.ofArray(bytes), 9))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("UTF-8");
    }

    @Test
    void shouldAcceptKeysOfUpTo63Characters() throws Exception {
        assertThat(TextKeys.parse(text("K".repeat(63) + "=1\0"), 1).pairs()).hasSize(1);
        assertThatThrownBy(() -> TextKeys.parse(text("K".repeat(64) + "=1\0"), 1))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldAcceptValuesOfUpTo255Bytes() throws Exception {
        assertThat(TextKeys.parse(text("A=" + "v".repeat(255) + "\0"), 1).pairs()).hasSize(1);
        assertThatThrownBy(() -> TextKeys.parse(text("A=" + "v".repeat(256) + "\0"), 1))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("256 bytes");
        // Counted in bytes, not in characters.
        assertThatThrownBy(() -> TextKeys.parse(text("A=" + "\u00e4".repeat(128) + "\0"), 1))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldAcceptChallengesOfUpTo1024Bytes() throws Exception {
        byte[] longest = new byte[1024];
        longest[0] = 1;
        var text = TextKeys.of(KeyValue.binary("CHAP_C", longest)).write();
        assertThat(TextKeys.parse(text, 1).pairs().getFirst().bytes()).isEqualTo(longest);
        var longer = TextKeys.of(KeyValue.binary("CHAP_C", new byte[1025])).write();
        assertThatThrownBy(() -> TextKeys.parse(longer, 1)).isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldRejectMoreKeysThanTheLimit() {
        assertThatThrownBy(() -> TextKeys.parse(text("A=1\0B=2\0C=3\0"), 2))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("more than 2 keys");
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "262144,262144", "0x0,0", "0x40000,262144", "0XfF,255",
            "9223372036854775807,9223372036854775807"})
    void shouldReadNumbers(String text, long number) throws Exception {
        assertThat(new KeyValue("A", text).number()).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "+1", "01", "0x", "0xg", "1 ", "ten", "9223372036854775808",
            "\u0661", "0x10000000000000000"})
    void shouldRejectInvalidNumbers(String text) {
        assertThatThrownBy(() -> new KeyValue("A", text).number())
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldReadBinaryValuesInHexAndBase64() throws Exception {
        assertThat(new KeyValue("A", "0x00ff10").bytes()).containsExactly(0, -1, 16);
        assertThat(new KeyValue("A", "0XFF").bytes()).containsExactly(-1);
        assertThat(new KeyValue("A", "0xf01").bytes()).containsExactly(15, 1);
        assertThat(new KeyValue("A", "0bAP8Q").bytes()).containsExactly(0, -1, 16);
        assertThat(new KeyValue("A", "0B/w==").bytes()).containsExactly(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0x", "0b", "12", "0xzz", "0b!!", "xx12", "0b=", "0b===="})
    void shouldRejectInvalidBinaryValues(String text) {
        assertThatThrownBy(() -> new KeyValue("A", text).bytes())
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldReadListsRangesAndBooleans() throws Exception {
        assertThat(new KeyValue("A", "None,CRC32C").list()).containsExactly("None", "CRC32C");
        assertThat(new KeyValue("A", "1~0x10").range()).isEqualTo(new KeyValue.Range(1, 16));
        assertThat(new KeyValue("A", "Yes").isYes()).isTrue();
        assertThat(new KeyValue("A", "No").isYes()).isFalse();
        assertThatThrownBy(() -> new KeyValue("A", "a,,b").list())
                .isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> new KeyValue("A", "2~1").range())
                .isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> new KeyValue("A", "12").range())
                .isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> new KeyValue("A", "yes").isYes())
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldKeepChapResponsesAndControlCharactersOutOfLogs() {
        assertThat(KeyValue.binary("CHAP_R", new byte[16])).hasToString("CHAP_R=...");
        assertThat(new KeyValue("A", "x\n\u001b[31my")).hasToString("A=x\\x0a\\x1b[31my");
    }

    @Test
    void shouldJoinPiecesOfAnySize() throws Exception {
        var random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            var pairs = new ArrayList<KeyValue>();
            for (int i = random.nextInt(20); i > 0; i--) {
                pairs.add(new KeyValue("Key" + i, "\u00e4v".repeat(random.nextInt(80))));
            }
            var keys = new TextKeys(pairs);
            var pieces = keys.split(1 + random.nextInt(600));
            var assembler = new TextAssembler(1 << 16, 20);
            for (var piece : pieces.subList(0, pieces.size() - 1)) {
                assertThat(assembler.add(piece, true)).isEmpty();
            }
            assertThat(assembler.add(pieces.getLast(), false)).as("seed " + SEED).contains(keys);
        }
    }

    @Test
    void shouldKeepPiecesWithinTheLimit() {
        var keys = TextKeys.of(new KeyValue("A", "v".repeat(100)));
        assertThat(keys.split(50).stream().map(MemorySegment::byteSize))
                .containsExactly(50L, 50L, 3L);
        assertThat(TextKeys.NONE.split(50)).hasSize(1);
    }

    @Test
    void shouldLimitTheBytesAndKeysOfAllTextsTogether() throws Exception {
        var assembler = new TextAssembler(20, 100);
        assembler.add(text("A=1\0B=2\0"), false);
        assertThatThrownBy(() -> assembler.add(text("C=" + "3".repeat(20)), true))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("20 bytes");
        var keys = new TextAssembler(100, 2);
        keys.add(text("A=1\0B=2\0"), false);
        assertThatThrownBy(() -> keys.add(text("C=3\0"), false))
                .isInstanceOf(ProtocolException.class);
    }

    @Test
    void shouldThrowNothingButProtocolExceptionOnRandomBytes() {
        var random = new Random(SEED);
        var accessors = List.<Reader>of(KeyValue::number, KeyValue::range, KeyValue::isYes,
                KeyValue::list, KeyValue::bytes, pair -> TargetAddress.parse(pair.value()),
                pair -> SendTargets.of(pair.value()));
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(40)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = random.nextInt(8) == 0
                        ? (byte) random.nextInt()
                        : (byte) "A=0x1b,~:[]\0".charAt(random.nextInt(12));
            }
            try {
                for (var pair : TextKeys.parse(MemorySegment.ofArray(bytes), 8).pairs()) {
                    for (var accessor : accessors) {
                        try {
                            accessor.read(pair);
                        } catch (ProtocolException e) {
                            assertThat(e.getMessage()).as("seed " + SEED).isNotEmpty();
                        }
                    }
                }
            } catch (ProtocolException e) {
                assertThat(e.getMessage()).as("seed " + SEED).isNotEmpty();
            }
        }
    }

    private interface Reader {
        Object read(KeyValue pair) throws ProtocolException;
    }

    @Test
    void shouldWriteWhatItReads() throws Exception {
        var text = text("A=1\0B=\u00e4\0");
        assertThat(TextKeys.parse(text, 2).write().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(text.toArray(ValueLayout.JAVA_BYTE));
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }
}
