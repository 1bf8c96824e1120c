package lunar.osd.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.initiator.ScsiResult;
import lunar.iscsi.pdu.Residual;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.wire.BigEndian;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Data of user objects: lengths, splitting, streams; against a unit with one object in memory. */
class UserObjectTest {
    private static final int PIECE = 4096;
    private static final OsdOptions OPTIONS = OsdOptions.DEFAULT.withTransferBytes(PIECE)
            .withDepth(3);
    private static final AdditionalSense PAST_END = new AdditionalSense(0x3b, 0x17);

    private final ScriptedUnit unit = new ScriptedUnit();
    private byte[] data = new byte[0];
    private UserObject object;

    @BeforeEach
    void serveOneObject() throws Exception {
        unit.on(ServiceAction.READ, this::read).on(ServiceAction.WRITE, this::write)
                .on(ServiceAction.CREATE_AND_WRITE, this::write)
                .on(ServiceAction.GET_ATTRIBUTES, command -> command.retrieved(
                        number(UserObjectAttribute.LOGICAL_LENGTH, data.length)))
                .on(ServiceAction.SET_ATTRIBUTES, command -> {
                    data = Arrays.copyOf(data, (int) BigEndian
                            .int64(command.sets().getFirst().value().segment(), 0));
                    return ScriptedUnit.good(0);
                });
        object = unit.open(OPTIONS).partition(0x10000).object(0x10001);
    }

    private ScsiResult read(ScriptedUnit.Received command) {
        var cdb = (ByteRangeCommand) command.cdb();
        int from = (int) Math.min(cdb.startByte(), data.length);
        int count = (int) Math.min(cdb.byteCount(), data.length - from);
        MemorySegment.copy(MemorySegment.ofArray(data), from, command.in(), 0, count);
        boolean attributes = !command.lists().retrieved().isEmpty();
        if (attributes) {
            command.retrieved(number(UserObjectAttribute.LOGICAL_LENGTH, data.length));
        }
        int bytes = attributes ? (int) command.in().byteSize() : count;
        return count == cdb.byteCount()
                ? ScriptedUnit.good(bytes)
                : ScriptedUnit.check(Sense.of(SenseKey.RECOVERED_ERROR, PAST_END)
                        .withCommandSpecific(count), bytes);
    }

    private ScsiResult write(ScriptedUnit.Received command) {
        var cdb = (ByteRangeCommand) command.cdb();
        int end = (int) (cdb.startByte() + cdb.byteCount());
        data = data.length < end ? Arrays.copyOf(data, end) : data;
        MemorySegment.copy(command.out(), 0, MemorySegment.ofArray(data), cdb.startByte(),
                cdb.byteCount());
        return ScriptedUnit.good(0);
    }

    private static Attribute number(UserObjectAttribute attribute, long value) {
        return new Attribute(attribute.id(), bytes(value));
    }

    private static Bytes bytes(long value) {
        byte[] bytes = new byte[8];
        BigEndian.int64(MemorySegment.ofArray(bytes), 0, value);
        return Bytes.of(bytes);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    // --- the wire ---

    /** Vector 8 of the captures of Linux: WRITE of 4096 bytes that gets two attributes along. */
    @Test
    void shouldSendAttributesAsLinuxDoes() throws Exception {
        unit.on(ServiceAction.WRITE, command -> command.retrieved(
                number(UserObjectAttribute.USED_CAPACITY, 4096),
                number(UserObjectAttribute.LOGICAL_LENGTH, 4096)));

        Reply<UserObject> reply = object.write(0, MemorySegment.ofArray(random(4096)),
                RequestOptions.NONE.get(UserObjectAttribute.USED_CAPACITY,
                        UserObjectAttribute.LOGICAL_LENGTH));

        ScriptedUnit.Received sent = unit.received().getFirst();
        assertThat(Bytes.of(Arrays.copyOfRange(sent.bytes(), 52, 80)).toString())
                .isEqualTo("00000018b00002000000003800000000" + "00000000ffffffff" + "00000000");
        assertThat(sent.out().byteSize()).isEqualTo(4120);
        assertThat(sent.in().byteSize()).isEqualTo(56);
        assertThat(Bytes.of(sent.out().asSlice(4096)).toString())
                .isEqualTo("0100000000000000" + "0000000100000081" + "0000000100000082");
        assertThat(reply.attribute(UserObjectAttribute.LOGICAL_LENGTH)).contains(bytes(4096));
    }

    @Test
    void shouldPlaceListsBehindDataOfAnyLength() throws Exception {
        byte[] bytes = random(13);
        object.write(5, MemorySegment.ofArray(bytes), RequestOptions.NONE
                .set(number(UserObjectAttribute.MAX_LENGTH, 99)).withFua());

        ScriptedUnit.Received sent = unit.received().getFirst();
        assertThat(sent.sets()).containsExactly(number(UserObjectAttribute.MAX_LENGTH, 99));
        assertThat(sent.lists().setList().offset()).isEqualTo(16);
        assertThat(sent.cdb().common().options().fua()).isTrue();
        assertThat(Arrays.copyOfRange(data, 5, 18)).isEqualTo(bytes);
    }

    // --- reads and writes ---

    @Test
    void shouldReturnWhatThereIsBeforeTheEnd() throws Exception {
        data = random(1000);
        byte[] buffer = new byte[600];

        assertThat(object.read(700, MemorySegment.ofArray(buffer))).isEqualTo(300);
        assertThat(Arrays.copyOf(buffer, 300)).isEqualTo(Arrays.copyOfRange(data, 700, 1000));
        assertThat(object.read(1000, MemorySegment.ofArray(buffer))).isZero();
    }

    @Test
    void shouldReadAttributesAlongPastTheEnd() throws Exception {
        data = random(100);
        byte[] buffer = new byte[256];

        Reply<Long> reply = object.read(40, MemorySegment.ofArray(buffer),
                RequestOptions.NONE.get(UserObjectAttribute.LOGICAL_LENGTH));

        assertThat(reply.value()).isEqualTo(60);
        assertThat(reply.attribute(UserObjectAttribute.LOGICAL_LENGTH)).contains(bytes(100));
        assertThat(Arrays.copyOf(buffer, 60)).isEqualTo(Arrays.copyOfRange(data, 40, 100));
    }

    @Test
    void shouldSplitLongTransfersAndKeepSeveralInFlight() throws Exception {
        byte[] written = random(10 * PIECE + 77);
        object.write(3, MemorySegment.ofArray(written));

        assertThat(Arrays.copyOfRange(data, 3, data.length)).isEqualTo(written);
        assertThat(unit.received()).hasSize(11);
        assertThat(unit.mostInFlight()).isEqualTo(3);

        byte[] read = new byte[written.length];
        assertThat(object.read(3, MemorySegment.ofArray(read))).isEqualTo(read.length);
        assertThat(read).isEqualTo(written);
    }

    @Test
    void shouldEndALongReadAtTheEndOfTheObject() throws Exception {
        data = random(4 * PIECE + 10);
        byte[] read = new byte[20 * PIECE];

        assertThat(object.read(0, MemorySegment.ofArray(read))).isEqualTo(data.length);
        assertThat(Arrays.copyOf(read, data.length)).isEqualTo(data);
        assertThat(unit.received()).hasSizeLessThanOrEqualTo(5 + 3);
    }

    @Test
    void shouldSendPiecesOfConfinedMemoryOneByOne() throws Exception {
        try (var arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(3 * PIECE);
            buffer.fill((byte) 9);
            object.write(0, buffer);
            assertThat(object.read(0, buffer)).isEqualTo(3 * PIECE);
        }
        assertThat(data).hasSize(3 * PIECE).containsOnly((byte) 9);
        assertThat(unit.mostInFlight()).isZero();
    }

    @Test
    void shouldSetAttributesWithTheLastPiece() throws Exception {
        object.write(0, MemorySegment.ofArray(random(3 * PIECE)),
                RequestOptions.NONE.set(number(UserObjectAttribute.MAX_LENGTH, 1)));

        assertThat(unit.received()).extracting(each -> each.sets().size())
                .containsExactly(0, 0, 1);
    }

    @Test
    void shouldSendPiecesAgainThatTheUnitDidNotExecute() throws Exception {
        unit.on(ServiceAction.WRITE, command -> unit.received().size() == 2
                ? ScriptedUnit.check(Sense.of(SenseKey.UNIT_ATTENTION,
                        new AdditionalSense(0x29, 0)))
                : write(command));
        byte[] written = random(4 * PIECE);

        object.write(0, MemorySegment.ofArray(written));

        assertThat(data).isEqualTo(written);
        assertThat(unit.received()).hasSize(5);
    }

    @Test
    void shouldReportAWriteThatTheDeviceTookInPartOnly() {
        unit.on(ServiceAction.WRITE, _ -> new ScsiResult(0, Bytes.EMPTY,
                new Residual(Residual.Kind.UNDERFLOW, 100), Residual.NONE, 0));

        assertThatThrownBy(() -> object.write(0, MemorySegment.ofArray(new byte[200])))
                .isInstanceOf(MediumException.class).hasMessageContaining("took fewer bytes");
    }

    @Test
    void shouldCreateWithTheFirstPieceAndItsAttributes() throws Exception {
        byte[] written = random(2 * PIECE + 1);
        UserObject created = unit.open(OPTIONS).partition(0x10000).createAndWrite(0x10001,
                MemorySegment.ofArray(written),
                RequestOptions.NONE.set(number(UserObjectAttribute.MAX_LENGTH, 1 << 20))).value();

        assertThat(created).isEqualTo(created).hasToString("10000h/10001h");
        assertThat(data).isEqualTo(written);
        assertThat(unit.actions().getFirst()).isEqualTo(ServiceAction.CREATE_AND_WRITE);
        assertThat(Set.copyOf(unit.actions().subList(1, 3))).containsOnly(ServiceAction.WRITE);
        assertThat(unit.received()).extracting(each -> each.sets().size())
                .containsExactly(1, 0, 0);
    }

    // --- append ---

    @Test
    void shouldTellWhereItAppended() throws Exception {
        unit.on(ServiceAction.APPEND, command -> command.retrieved(new Attribute(
                CurrentCommandAttribute.APPEND_STARTING_BYTE_ADDRESS.id(), bytes(4711))));

        assertThat(object.append(MemorySegment.ofArray(new byte[10]))).isEqualTo(4711);
    }

    @Test
    void shouldNotAppendAgainAfterALostSession() {
        unit.on(ServiceAction.APPEND, _ -> {
            throw new DeviceGoneException("the session is lost", null);
        });

        assertThatThrownBy(() -> object.append(MemorySegment.ofArray(new byte[10])))
                .isInstanceOf(DeviceGoneException.class);
        assertThat(unit.received()).hasSize(1);
    }

    @Test
    void shouldNotAppendAgainAfterAnAbort() {
        unit.on(ServiceAction.APPEND, _ -> ScriptedUnit
                .check(Sense.of(SenseKey.ABORTED_COMMAND, new AdditionalSense(0, 0))));

        assertThatThrownBy(() -> object.append(MemorySegment.ofArray(new byte[10])))
                .isInstanceOf(lunar.block.AbortedException.class);
        assertThat(unit.received()).hasSize(1);
    }

    @Test
    void shouldRefuseAnAppendThatTakesSeveralCommands() {
        assertThatThrownBy(() -> object.append(MemorySegment.ofArray(new byte[PIECE + 1])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 4096 bytes, not 4097");
    }

    // --- streams ---

    @Test
    void shouldStreamBothWays() throws Exception {
        byte[] written = random(9 * PIECE + 500);
        try (OutputStream out = object.openOutput()) {
            out.write(written, 0, 100);
            out.write(written[100]);
            out.write(written, 101, written.length - 101);
        }
        assertThat(data).isEqualTo(written);
        assertThat(unit.mostInFlight()).isEqualTo(3);

        try (InputStream in = object.openInput(50)) {
            assertThat(in.read()).isEqualTo(written[50] & 0xff);
            assertThat(in.readAllBytes())
                    .isEqualTo(Arrays.copyOfRange(written, 51, written.length));
            assertThat(in.read()).isEqualTo(-1);
        }
    }

    @Test
    void shouldReadNothingBehindTheRangeOfAStream() throws Exception {
        data = random(9 * PIECE);
        try (InputStream in = object.openInput(10, PIECE + 1)) {
            assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(data, 10, PIECE + 11));
        }
        assertThat(unit.actions()).containsOnly(ServiceAction.READ);
        assertThat(unit.received()).extracting(each -> each.in().byteSize())
                .containsExactly((long) PIECE, 1L);
        try (InputStream in = object.openInput(9 * PIECE - 5, Long.MAX_VALUE)) {
            assertThat(in.readAllBytes()).hasSize(5);
        }
    }

    @Test
    void shouldDropTheFormerContent() throws Exception {
        data = random(300);
        try (OutputStream out = object.openOutput()) {
            out.write(1);
        }
        assertThat(data).containsExactly(1);
    }

    @Test
    void shouldEndTheStreamOfAnObjectThatBecameShorter() throws Exception {
        data = random(5 * PIECE);
        try (InputStream in = object.openInput()) {
            data = Arrays.copyOf(data, PIECE + 5);
            assertThat(in.readAllBytes()).isEqualTo(data);
        }
    }

    @Test
    void shouldReportAFailedWriteByTheNextCall() throws Exception {
        unit.on(ServiceAction.WRITE, _ -> {
            throw new DeviceGoneException("the session is lost", null);
        });
        OutputStream out = object.openOutput();
        out.write(new byte[PIECE]);

        assertThatThrownBy(out::flush).isInstanceOf(DeviceGoneException.class);
        assertThatThrownBy(() -> out.write(1)).isInstanceOf(IOException.class)
                .hasMessageContaining("an earlier write of 10000h/10001h failed");
        out.close();
    }

    @Test
    void shouldBeAChannel() throws Exception {
        try (var channel = object.openChannel()) {
            channel.position(10);
            assertThat(channel.write(ByteBuffer.wrap(random(100)))).isEqualTo(100);
            assertThat(channel.size()).isEqualTo(110);
            channel.position(0);
            ByteBuffer buffer = ByteBuffer.allocate(64);
            assertThat(channel.read(buffer)).isEqualTo(64);
            assertThat(channel.position()).isEqualTo(64);
            channel.position(110);
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(channel.truncate(50).size()).isEqualTo(50);
        }
    }
}
