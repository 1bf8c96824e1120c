package lunar.iser.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import lunar.iscsi.ProtocolException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the byte layouts of RFC 7145 section 9. */
class IserHeaderTest {
    private static final String PLAIN = "10000000" + "00000000" + "0000000000000000" + "00000000"
            + "0000000000000000";
    private static final String WRITE = "18000000" + "0a0b0c0d" + "00007f1122334455" + "00000000"
            + "0000000000000000";
    private static final String READ = "14000000" + "00000000" + "0000000000000000" + "fffefdfc"
            + "0000000000001000";
    private static final String BOTH = "1c000000" + "0a0b0c0d" + "00007f1122334455" + "fffefdfc"
            + "0000000000001000";

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }

    private static String hex(MemorySegment message) {
        return HexFormat.of().formatHex(message.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Returns message memory with non-zero contents, as left by an earlier message. */
    private static MemorySegment used() {
        MemorySegment message = MemorySegment.ofArray(new byte[IserHeader.LENGTH]);
        message.fill((byte) 0xa5);
        return message;
    }

    @ParameterizedTest
    @CsvSource({PLAIN + ",false,false", WRITE + ",true,false", READ + ",false,true",
            BOTH + ",true,true"})
    void shouldEncodeValidStags(String golden, boolean writes, boolean reads) {
        MemorySegment message = used();
        IserHeader.encode(message);
        if (writes) {
            IserHeader.addWrite(message, 0x0a0b0c0d, 0x7f1122334455L);
        }
        if (reads) {
            IserHeader.addRead(message, 0xfffefdfc, 0x1000);
        }
        assertThat(hex(message)).isEqualTo(golden);

        MemorySegment received = bytes(golden);
        assertThat(IserHeader.kind(received)).isEqualTo(IserHeader.CONTROL);
        assertThat(IserHeader.hasWrite(received)).isEqualTo(writes);
        assertThat(IserHeader.hasRead(received)).isEqualTo(reads);
        assertThat(IserHeader.writeStag(received)).isEqualTo(writes ? 0x0a0b0c0d : 0);
        assertThat(IserHeader.writeBase(received)).isEqualTo(writes ? 0x7f1122334455L : 0);
        assertThat(IserHeader.readStag(received)).isEqualTo(reads ? 0xfffefdfc : 0);
        assertThat(IserHeader.readBase(received)).isEqualTo(reads ? 0x1000 : 0);
    }

    @Test
    void shouldEncodeHello() throws Exception {
        MemorySegment message = used();
        var hello = new Hello(10, 9, 0x0102);
        hello.encode(message);
        assertThat(hex(message)).isEqualTo("20a90102" + "00".repeat(24));
        assertThat(Hello.isHello(message)).isTrue();
        assertThat(HelloReply.isHelloReply(message)).isFalse();
        assertThat(Hello.decode(message)).isEqualTo(hello);
    }

    @ParameterizedTest
    @CsvSource({"false,30aa0010", "true,31aa0010"})
    void shouldEncodeHelloReply(boolean rejected, String golden) throws Exception {
        MemorySegment message = used();
        var reply = new HelloReply(rejected, 10, 10, 16);
        reply.encode(message);
        assertThat(hex(message)).isEqualTo(golden + "00".repeat(24));
        assertThat(HelloReply.isHelloReply(message)).isTrue();
        assertThat(HelloReply.decode(message)).isEqualTo(reply);
    }

    @ParameterizedTest
    @CsvSource({"10,10,4,16,4,false", "15,0,64,16,16,false", "9,1,4,16,4,true",
            "15,11,4,16,4,true"})
    void shouldNegotiateVersionAndReadDepth(int max, int min, int ird, int ord, int reads,
            boolean rejected) {
        HelloReply reply = HelloReply.to(new Hello(max, min, ird), ord);
        assertThat(reply.rejected()).isEqualTo(rejected);
        assertThat(reply.version()).isEqualTo(10);
        assertThat(reply.reads()).isEqualTo(reads);
    }

    @Test
    void shouldRejectAnInvalidHello() {
        assertThatThrownBy(() -> Hello.decode(bytes("20aa0001" + "00".repeat(20))))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("24 bytes");
        assertThatThrownBy(() -> Hello.decode(bytes("209a0001" + "00".repeat(24))))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("versions 10 to 9");
        assertThatThrownBy(() -> HelloReply.decode(bytes("30aa0001" + "00".repeat(28))))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("32 bytes");
        assertThat(Hello.isHello(MemorySegment.NULL)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"80000000,true,false", "c0000000,true,true", "40000000,false,true",
            "00000000,false,false"})
    void shouldEncodePrivateData(String golden, boolean zeroBased, boolean invalidation) {
        var data = new ConnectData(zeroBased, invalidation);
        assertThat(HexFormat.of().formatHex(data.encode())).isEqualTo(golden);
        assertThat(ConnectData.decode(HexFormat.of().parseHex(golden))).isEqualTo(data);
        assertThat(ConnectData.decode(HexFormat.of().parseHex(golden + "00".repeat(52))))
                .as("padded").isEqualTo(data);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "000000"})
    void shouldAssumeNoSupportIfPrivateDataAreMissing(String hex) {
        assertThat(ConnectData.decode(HexFormat.of().parseHex(hex)))
                .isEqualTo(new ConnectData(true, true));
    }
}
