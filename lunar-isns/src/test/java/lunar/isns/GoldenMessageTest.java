package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests messages byte by byte, both ways. The responses are those of Open-iSNS 0.101. */
class GoldenMessageTest {
    private static final String T1 = "iqn.2026-11.org.lunar:t1";
    /** {@link #T1}, with its NUL and filled to 28 bytes. */
    private static final String T1_HEX = "69716e2e323032362d31312e6f72672e6c756e61723a7431 00000000";
    /** {@code lunar-abc}. */
    private static final String ENTITY_HEX = "6c756e61722d616263 000000";
    private static final String LEFT = "00000000000000000000ffff 7f000001";
    private static final String RIGHT = "20010db8000000000000000000000001";

    private static StorageNode.Portal portal(String address, int port) throws Exception {
        return new StorageNode.Portal(InetAddress.getByName(address), port);
    }

    /** A target of two, with its own portal in group 7. */
    private static Registration registration() throws Exception {
        var one = new StorageNode(T1, "al", Map.of(portal("127.0.0.1", 3261), 7));
        var both = new LinkedHashMap<StorageNode.Portal, Integer>();
        both.put(portal("127.0.0.1", 3261), 9);
        both.put(portal("2001:db8::1", 3262), 9);
        return new Registration("lunar-abc",
                List.of(one, new StorageNode("iqn.2026-11.org.lunar:t2", "", both)));
    }

    @Test
    void shouldRegisterAnEntityInOneRequest() throws Exception {
        Message.Request request = Registrations.register(registration(), "lunar-abc", true, 300)
                .getFirst().withTransaction(5);
        byte[] golden = Wire.hex("0001 0001 01d8 9c00 0005 0000"
                + "00000020 0000001c" + T1_HEX // source
                + "00000001 0000000c" + ENTITY_HEX // what is replaced
                + "00000000 00000000"
                + "00000001 0000000c" + ENTITY_HEX
                + "00000002 00000004 00000002" // iSCSI
                + "00000006 00000004 0000012c" // for 300 s
                + "00000010 00000010" + LEFT + "00000011 00000004 00000cbd"
                + "00000010 00000010" + RIGHT + "00000011 00000004 00000cbe"
                + "00000020 0000001c" + T1_HEX
                + "00000021 00000004 00000001" // a target
                + "00000022 00000004 616c0000" // its alias
                + "00000033 00000004 00000007" // in group 7:
                + "00000031 00000010" + LEFT + "00000032 00000004 00000cbd"
                + "00000033 00000000" // in no group:
                + "00000031 00000010" + RIGHT + "00000032 00000004 00000cbe"
                + "00000020 0000001c" + T1_HEX.replace("7431", "7432")
                + "00000021 00000004 00000001"
                + "00000022 00000000"
                + "00000033 00000004 00000009"
                + "00000031 00000010" + LEFT + "00000032 00000004 00000cbd"
                + "00000031 00000010" + RIGHT + "00000032 00000004 00000cbe");
        assertThat(Wire.hex(MessageCodec.encode(request, PduHeader.FROM_CLIENT)))
                .isEqualTo(Wire.hex(golden));
        assertThat(Wire.decode(golden)).containsExactly(request);
    }

    @Test
    void shouldDeregisterAnEntity() throws Exception {
        Message.Request request = Registrations.removeEntity(T1, "lunar-abc").withTransaction(6);
        byte[] golden = Wire.hex("0001 0004 0040 8c00 0006 0000"
                + "00000020 0000001c" + T1_HEX + "00000000 00000000"
                + "00000001 0000000c" + ENTITY_HEX);
        assertThat(Wire.hex(MessageCodec.encode(request, PduHeader.FROM_CLIENT)))
                .isEqualTo(Wire.hex(golden));
        assertThat(Wire.decode(golden)).containsExactly(request);
    }

    @Test
    void shouldQueryTheEntityOfANode() throws Exception {
        Message.Request request = Registrations.whoseIs(T1).withTransaction(7);
        byte[] golden = Wire.hex("0001 0002 0058 8c00 0007 0000"
                + "00000020 0000001c" + T1_HEX + "00000020 0000001c" + T1_HEX
                + "00000000 00000000 00000001 00000000");
        assertThat(Wire.hex(MessageCodec.encode(request, PduHeader.FROM_CLIENT)))
                .isEqualTo(Wire.hex(golden));
        assertThat(Wire.decode(golden)).containsExactly(request);
    }

    @Test
    void shouldReadWhatIsnsdAnswersToThat() throws Exception {
        byte[] golden = Wire.hex("0001 8002 0044 4c00 0007 0000 00000000"
                + "00000020 0000001c" + T1_HEX + "00000000 00000000"
                + "00000001 0000000c" + ENTITY_HEX);
        Message message = Wire.decode(golden).getFirst();
        assertThat(message).isEqualTo(new Message.Response(0x8002, 7, 0,
                List.of(new Attribute.Text(32, T1), Attribute.DELIMITER,
                        new Attribute.Text(1, "lunar-abc"))));
        assertThat(message.operating()).containsExactly(new Attribute.Text(1, "lunar-abc"));
        assertThat(Wire.hex(MessageCodec.encode(message, PduHeader.FROM_SERVER)))
                .isEqualTo(Wire.hex(golden));
    }

    @Test
    void shouldReadATimestampAndWhatItDoesNotKnow() throws Exception {
        byte[] golden = Wire.hex("0001 000d 0020 4c00 0001 0000"
                + "00000004 00000008 00000000 6b01573e" // ESI begins with the time
                + "00000018 00000008 0102030405060708");
        Message message = Wire.decode(golden).getFirst();
        assertThat(message.attributes()).first()
                .isEqualTo(new Attribute.Time(Tags.TIMESTAMP, 0x6b01573eL));
        assertThat(message.attributes()).last().isInstanceOfSatisfying(Attribute.Opaque.class,
                opaque -> assertThat(opaque.value().remaining()).isEqualTo(8));
        assertThat(Wire.hex(MessageCodec.encode(message, PduHeader.FROM_SERVER)))
                .isEqualTo(Wire.hex(golden));
    }
}
