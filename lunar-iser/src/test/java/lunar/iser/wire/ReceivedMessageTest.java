package lunar.iser.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReceivedMessageTest {
    private static final Framing LIMITS = new Framing(false, false, 100, 8);

    private final ReceivedMessage received = new ReceivedMessage();

    /** Returns a message of a total length with a PDU whose header has the given lengths. */
    private static MemorySegment message(int ahs, int data, int bytes) {
        MemorySegment message = MemorySegment.ofArray(new byte[bytes]);
        IserHeader.encode(message);
        new Bhs().wrap(message, IserHeader.LENGTH).start(ScsiCommand.OPCODE, false, 0x80)
                .lengths(ahs, data);
        for (int i = ReceivedMessage.HEADERS; i < bytes; i++) {
            message.set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        return message;
    }

    @ParameterizedTest
    @CsvSource({"0,0,76", "0,4,80", "0,5,84", "0,5,81", "8,0,84", "8,7,92", "8,100,184"})
    void shouldDecodeMessages(int ahs, int data, int bytes) throws Exception {
        received.wrap(message(ahs, data, bytes), LIMITS);
        assertThat(received.bhs().opcode()).isEqualTo(ScsiCommand.OPCODE);
        assertThat(received.ahs().byteSize()).isEqualTo(ahs);
        assertThat(received.dataBytes()).isEqualTo(data);
        assertThat(received.data().byteSize()).isEqualTo(data);
        if (data > 0) {
            assertThat(received.data().get(ValueLayout.JAVA_BYTE, 0))
                    .isEqualTo((byte) (76 + ahs));
        }
    }

    @ParameterizedTest
    @CsvSource({"0,0,0,75,shorter than its headers", "0,0,0,1,shorter than its headers",
            "0,0,0,0,shorter than its headers", "0,101,0,180,exceeds the limits",
            "12,0,0,88,exceeds the limits", "0,16777215,0,76,exceeds the limits",
            "1020,0,0,76,exceeds the limits", "0,8,0,80,with a PDU of 56",
            "0,4,0,84,with a PDU of 52",
            "8,0,0,76,with a PDU of 56", "0,5,0,85,with a PDU of 53"})
    void shouldRejectInvalidLengths(int ahs, int data, int ignored, int bytes, String why) {
        MemorySegment whole = message(ahs, data, Math.max(bytes, ReceivedMessage.HEADERS));
        assertThatThrownBy(() -> received.wrap(whole.asSlice(0, bytes), LIMITS))
                .isInstanceOf(ProtocolException.class).hasMessageContaining(why);
    }

    @ParameterizedTest
    @CsvSource({"0x00", "0x20", "0x30", "0x40", "0xf0"})
    void shouldRejectMessagesThatCarryNoPdu(String kind) {
        MemorySegment message = message(0, 0, 76);
        message.set(ValueLayout.JAVA_BYTE, 0, Integer.decode(kind).byteValue());
        assertThatThrownBy(() -> received.wrap(message, LIMITS))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("in place of a PDU");
    }

    @Test
    void shouldDecodeALoginRequest() throws Exception {
        MemorySegment message = message(0, 8192, 76 + 8192);
        new Bhs().wrap(message, IserHeader.LENGTH).start(LoginRequest.OPCODE, true, 0)
                .lengths(0, 8192);
        received.wrap(message, Framing.LOGIN);
        assertThat(received.bhs().immediate()).isTrue();
        assertThat(received.data().byteSize()).isEqualTo(8192);
    }

    @Test
    void shouldSurviveRandomMessages() {
        var random = new Random(Seed.next());
        int taken = 0;
        for (int i = 0; i < 20_000; i++) {
            MemorySegment message = message(0, 40, 116);
            for (int flips = random.nextInt(4); flips > 0; flips--) {
                message.set(ValueLayout.JAVA_BYTE, random.nextInt(40),
                        (byte) random.nextInt(256));
            }
            MemorySegment cut = message.asSlice(0,
                    random.nextInt(4) == 0 ? random.nextInt(117) : 116);
            try {
                received.wrap(cut, LIMITS);
                assertThat(received.data().byteSize()).isEqualTo(received.dataBytes());
                taken++;
            } catch (ProtocolException e) {
                assertThat(e.getMessage()).doesNotContain("\n");
            }
        }
        assertThat(taken).isPositive();
    }
}
