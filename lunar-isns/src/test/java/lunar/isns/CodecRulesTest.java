package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that violations are rejected with a message that names the rule. */
class CodecRulesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "0002 8001 0004 4c00 0001 0000 00000000 | version 2",
            "0001 8001 0003 4c00 0001 0000 000000 | multiple of 4",
            "0001 8001 0004 6c00 0001 0000 00000000 | signs its messages",
            "0001 8001 0000 4c00 0001 0000 | no status",
            "0001 8001 0004 4800 0001 0000 00000000 | does not begin a message",
            "0001 8001 0004 4c00 0001 0003 00000000 | sequence 3, not 0",
            "0001 8001 0008 4c00 0001 0000 00000000 00000001 | truncated attribute",
            "0001 8001 000c 4c00 0001 0000 00000000 00000001 00000004 | declares 4 bytes, but the message has 0",
            "0001 8001 000c 4c00 0001 0000 00000000 00000001 ffffffff | 4294967295 bytes",
            "0001 8001 0010 4c00 0001 0000 00000000 00000009 00000003 00000000 | multiple of 4",
            "0001 8001 0010 4c00 0001 0000 00000000 00000004 00000004 00000000 | 4 bytes, not 8",
            "0001 8001 0010 4c00 0001 0000 00000000 00000010 00000004 7f000001 | 4 bytes, not 16",
            "0001 8001 0010 4c00 0001 0000 00000000 00000020 00000004 61616161 | is not terminated",
            "0001 8001 0010 4c00 0001 0000 00000000 00000020 00000004 c3280000 | not UTF-8"})
    void shouldRejectWhatBreaksARule(String bytes, String why) {
        assertThatExceptionOfType(IsnsException.class)
                .isThrownBy(() -> Wire.decode(Wire.hex(bytes))).withMessageContaining(why);
    }

    @Test
    void shouldRejectTextsThatAreTooLong() {
        byte[] name = MessageCodec.encode(Message.Request.of(1, List.of(
                new Attribute.Text(Tags.NODE_ALIAS, "a".repeat(255)))), PduHeader.FROM_CLIENT);
        name[15] = Tags.NODE_NAME; // 256 bytes are right for an alias only
        assertThatExceptionOfType(IsnsException.class).isThrownBy(() -> Wire.decode(name))
                .withMessageContaining("more than 224");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> new Attribute.Text(Tags.NODE_NAME, "a".repeat(224)));
    }

    @Test
    void shouldRejectMessagesWithoutEnd() {
        byte[] payload = new byte[PduHeader.MAX_PAYLOAD_BYTES];
        var assembler = new MessageAssembler();
        assertThatExceptionOfType(IsnsException.class).isThrownBy(() -> {
            for (int i = 0; i < 1_000; i++) {
                assembler.add(new PduHeader(0x8002, payload.length, i == 0 ? PduHeader.FIRST : 0,
                        1, i), payload);
            }
        }).withMessageContaining("longer than 1048576");
    }

    @Test
    void shouldRejectPdusOfAnotherMessageInBetween() throws IsnsException {
        var begun = new PduHeader(0x8002, 4, PduHeader.FIRST, 1, 0);
        for (PduHeader other : List.of(new PduHeader(0x8002, 4, PduHeader.LAST, 2, 1),
                new PduHeader(0x8001, 4, PduHeader.LAST, 1, 1),
                new PduHeader(0x8002, 4, PduHeader.FIRST, 1, 1))) {
            var assembler = new MessageAssembler();
            assertThat(assembler.add(begun, new byte[4])).isEmpty();
            assertThatExceptionOfType(IsnsException.class)
                    .isThrownBy(() -> assembler.add(other, new byte[4]));
        }
    }

    @Test
    void shouldCutLongRegistrationsBetweenNodes() throws Exception {
        var names = Collections.nCopies(2_000, "iqn.2026-11.org.lunar:");
        var nodes = new ArrayList<StorageNode>();
        for (int i = 0; i < names.size(); i++) {
            nodes.add(new StorageNode(names.get(i) + i, "", Map.of(
                    new StorageNode.Portal(InetAddress.getByName("10.0.0.1"), 3260), 1)));
        }
        var wanted = new Registration("e", nodes);
        List<Message.Request> requests = Registrations.register(wanted, "e", true, 300);
        assertThat(requests).hasSizeGreaterThan(4)
                .allSatisfy(one -> assertThat(MessageCodec.encode(one, PduHeader.FROM_CLIENT))
                        .hasSizeLessThan(40_000));
        assertThat(requests.stream().map(Message.Request::replace)).startsWith(true, false)
                .containsOnlyOnce(true);
        assertThat(requests.stream().flatMap(one -> one.operating().stream())
                .filter(one -> one.tag() == Tags.NODE_NAME)).hasSize(nodes.size());
        // Each belongs to the entity.
        assertThat(requests).allSatisfy(one -> assertThat(one.operating()).first()
                .isEqualTo(new Attribute.Text(Tags.ENTITY_IDENTIFIER, "e")));

        var gone = new Registration("e", nodes.subList(0, 1));
        List<Message.Request> removals = Registrations.removeAllBut(gone, wanted, "n");
        assertThat(removals).hasSizeGreaterThan(2);
        assertThat(removals.stream().flatMap(one -> one.operating().stream()))
                .hasSize(nodes.size() - 1);
        assertThat(Registrations.removeAllBut(wanted, wanted, "n")).isEmpty();
    }

    @Test
    void shouldFillTextsWithNuls() {
        for (int length = 0; length < 9; length++) {
            byte[] bytes = MessageCodec.encode(Message.Request.of(1, List.of(
                    new Attribute.Text(Tags.NODE_ALIAS, "x".repeat(length)))),
                    PduHeader.FROM_CLIENT);
            assertThat(bytes).hasSize(12 + 8 + (length / 4 + 1) * 4);
            assertThat(Arrays.copyOfRange(bytes, 20 + length, bytes.length)).containsOnly(0);
        }
    }
}
