package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v1;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.sense.AttributeIdentification;
import lunar.osd.wire.sense.CommandFunction;
import lunar.scsi.AdditionalSense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DataCommandsTest {
    private OsdFixture device;

    @BeforeEach
    void open() throws Exception { device = new OsdFixture().withObject(); }

    @AfterEach
    void close() throws Exception { device.close(); }

    private static byte[] bytes(String text) { return text.getBytes(StandardCharsets.US_ASCII); }

    private Reply run(ServiceAction action, long length, long start, byte[] out) {
        return device.run(new ByteRangeCommand(action, v2(), OBJECT, length, start, 0), out, 0);
    }

    private String content() {
        int length = (int) Attributes.numberOf(device, OBJECT,
                UserObjectAttribute.LOGICAL_LENGTH.id());
        return new String(device.read(OBJECT, 0, length).isGood().data(),
                StandardCharsets.US_ASCII);
    }

    @Test
    void shouldFillGapsWithZeros() {
        device.write(OBJECT, 4, bytes("abcd")).isGood();
        assertThat(content()).isEqualTo("\0\0\0\0abcd");
    }

    @Test
    void shouldAppendAndTellWhere() {
        device.write(OBJECT, 0, bytes("abcd")).isGood();
        Lists lists = Attributes.lists(OsdVersion.OSD_2, 256, List.of(),
                List.of(CurrentCommandAttribute.APPEND_STARTING_BYTE_ADDRESS.id(),
                        CurrentCommandAttribute.CHANGE_IN_USED_CAPACITY.id()),
                0);
        byte[] out = lists.out();
        out[0] = 'e';
        Reply reply = device.run(new ByteRangeCommand(ServiceAction.APPEND, lists.in(v2()),
                OBJECT, 1, 0, 0), out, 1000).isGood();
        assertThat(Attributes.decode(reply.data())).containsExactly(
                Attributes.number(CurrentCommandAttribute.APPEND_STARTING_BYTE_ADDRESS.id(), 4,
                        8),
                Attributes.number(CurrentCommandAttribute.CHANGE_IN_USED_CAPACITY.id(), 1, 8));
        assertThat(content()).isEqualTo("abcde");
    }

    @Test
    void shouldClearAndPunch() {
        device.write(OBJECT, 0, bytes("abcdefgh")).isGood();
        run(ServiceAction.CLEAR, 2, 1, new byte[0]).isGood();
        assertThat(content()).isEqualTo("a\0\0defgh");
        run(ServiceAction.PUNCH, 2, 1, new byte[0]).isGood();
        assertThat(content()).isEqualTo("adefgh");
        run(ServiceAction.PUNCH, 100, 4, new byte[0]).isGood();
        assertThat(content()).isEqualTo("adef");
        run(ServiceAction.PUNCH, 1, 5, new byte[0]).invalidField(40, OBJECT);
        run(ServiceAction.PUNCH, Long.MAX_VALUE, 4, new byte[0]).isGood();
        assertThat(content()).isEqualTo("adef");
        run(ServiceAction.PUNCH, Long.MAX_VALUE, 3, new byte[0]).isGood();
        assertThat(content()).isEqualTo("ade");
        run(ServiceAction.PUNCH, -1, 2, new byte[0]).isGood();
        assertThat(content()).isEqualTo("ad");
        run(ServiceAction.PUNCH, 1, -1, new byte[0]).invalidField(40, OBJECT);
        device.write(OBJECT, 2, bytes("ef")).isGood();
        run(ServiceAction.CLEAR, 2, 4, new byte[0]).isGood();
        assertThat(content()).isEqualTo("adef\0\0");
    }

    @Test
    void shouldReturnDataAndSenseOfReadPastEnd() {
        device.write(OBJECT, 0, bytes("abc")).isGood();
        Reply reply = device.read(OBJECT, 1, 8);
        reply.failed(SenseKey.RECOVERED_ERROR, AdditionalSense.READ_PAST_END_OF_USER_OBJECT,
                OBJECT).notInitiated()
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.COMMAND);
        assertThat(reply.data()).isEqualTo(bytes("bc"));
        assertThat(reply.sense().commandSpecific()).isEqualTo(OptionalLong.of(2));
        Reply behind = device.read(OBJECT, 3, 8);
        behind.failed(SenseKey.RECOVERED_ERROR, AdditionalSense.READ_PAST_END_OF_USER_OBJECT,
                OBJECT);
        assertThat(behind.data()).isEmpty();
        assertThat(behind.sense().commandSpecific()).isEqualTo(OptionalLong.of(0));
        device.read(OBJECT, 9, 0).isGood();
    }

    /** The sense data count what the object has of the range, whatever of it the initiator receives. */
    @Test
    void shouldCountBytesReadPastEndForInitiatorThatReceivesLess() {
        device.write(OBJECT, 0, bytes("abcde")).isGood();
        for (int received : new int[]{0, 2, 4, 6}) {
            Reply reply = device.run(new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT, 8, 1,
                    0), new byte[0], received);
            reply.failed(SenseKey.RECOVERED_ERROR,
                    AdditionalSense.READ_PAST_END_OF_USER_OBJECT, OBJECT);
            assertThat(reply.sense().commandSpecific()).isEqualTo(OptionalLong.of(4));
            assertThat(reply.dataInBytes()).isEqualTo(4);
            assertThat(reply.data()).isEqualTo(Arrays.copyOf(bytes("bcde"),
                    Math.min(received, 4)));
        }
    }

    @Test
    void shouldZeroGapsBetweenDataAndAttributes() {
        device.write(OBJECT, 0, bytes("abc")).isGood();
        Lists lists = Attributes.lists(OsdVersion.OSD_2, 0, List.of(),
                List.of(UserObjectAttribute.LOGICAL_LENGTH.id()), 16);
        Reply reply = device.run(new ByteRangeCommand(ServiceAction.READ, lists.in(v2()), OBJECT,
                8, 0, 0), lists.out(), 1000);
        reply.failed(SenseKey.RECOVERED_ERROR, AdditionalSense.READ_PAST_END_OF_USER_OBJECT,
                OBJECT).has(
                        "616263" + "00".repeat(13) + "0900000000000018"
                                + "0000000100000082 000000000000 0008 0000000000000003");
    }

    @Test
    void shouldReadNoMoreThanInitiatorReceives() {
        device.write(OBJECT, 0, new byte[4096]).isGood();
        Reply reply = device.run(new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT, 4096, 0,
                0), new byte[0], 100).isGood();
        assertThat(reply.data()).hasSize(100);
        assertThat(reply.dataInBytes()).as("overflow").isEqualTo(4096);
        assertThat(reply.memoryBytes()).isEqualTo(100);
        assertThat(device.run(new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT, 4096, 0, 0),
                new byte[0], 0).isGood().dataInBytes()).isEqualTo(4096);
    }

    @Test
    void shouldCreateAndWriteWithAttributes() {
        var object = new ObjectId(PARTITION, 0x2_0000);
        var mine = new AttributeId(0x1_0000, 1);
        Lists lists = Attributes.lists(OsdVersion.OSD_2, 256,
                List.of(Attributes.set(mine, (byte) 7)),
                List.of(mine, UserObjectAttribute.LOGICAL_LENGTH.id()), 0);
        byte[] out = lists.out();
        out[0] = 'a';
        out[1] = 'b';
        Reply reply = device.run(new ByteRangeCommand(ServiceAction.CREATE_AND_WRITE,
                lists.in(v2()), object, 2, 3, 0), out, 1000).isGood();
        assertThat(Attributes.decode(reply.data())).containsExactly(
                Attributes.set(mine, (byte) 7),
                Attributes.number(UserObjectAttribute.LOGICAL_LENGTH.id(), 5, 8));
        assertThat(device.read(object, 0, 5).isGood().data()).isEqualTo(bytes("\0\0\0ab"));
        device.run(new ByteRangeCommand(ServiceAction.CREATE_AND_WRITE, v2(), object, 2, 0, 0),
                bytes("xy"), 0).invalidField(24, object);
        assertThat(device.read(object, 0, 5).isGood().data()).isEqualTo(bytes("\0\0\0ab"));
    }

    @Test
    void shouldCutCreatedObjectToItsLogicalLength() {
        for (int length : new int[]{0, 1, 2, 9}) {
            var object = new ObjectId(PARTITION, 0x2_0000 + length);
            Lists lists = Attributes.lists(OsdVersion.OSD_2, 256, List.of(Attributes
                    .number(UserObjectAttribute.LOGICAL_LENGTH.id(), length, 8)), List.of(), 0);
            byte[] out = lists.out();
            out[0] = 'a';
            out[1] = 'b';
            device.run(new ByteRangeCommand(ServiceAction.CREATE_AND_WRITE, lists.in(v2()),
                    object, 2, 0, 0), out, 0).isGood();
            assertThat(device.read(object, 0, length).isGood().data())
                    .isEqualTo(Arrays.copyOf(Arrays.copyOf(bytes("ab"), Math.min(2, length)),
                            length));
        }
    }

    @Test
    void shouldRefuseLengthsBeyondLimits() {
        long tooLong = OsdFixture.MAX_TRANSFER + 1;
        run(ServiceAction.READ, tooLong, 0, new byte[0]).invalidField(32, OBJECT);
        run(ServiceAction.WRITE, -1, 0, new byte[8]).invalidField(32, OBJECT);
        run(ServiceAction.READ, 8, -1, new byte[0]).invalidField(40, OBJECT);
        run(ServiceAction.CLEAR, 8, Long.MAX_VALUE, new byte[0]).invalidField(40, OBJECT);
        device.run(new ByteRangeCommand(ServiceAction.READ, v1(), OBJECT, tooLong, 0, 0))
                .invalidField(36, OBJECT);
        device.run(new ByteRangeCommand(ServiceAction.READ, v1(), OBJECT, 8, -1, 0))
                .invalidField(44, OBJECT);
        run(ServiceAction.WRITE, 16, 0, new byte[8])
                .illegal(AdditionalSense.PARAMETER_LIST_LENGTH_ERROR, OBJECT)
                .completed();
    }

    @Test
    void shouldRefuseBuffersThatOverlap() {
        byte[] out = new byte[4096];
        out[256] = 9;
        CommonFields inData = v2().withAttributes(
                ListParameters.set(new BufferPart(256, 8)));
        device.run(new ByteRangeCommand(ServiceAction.WRITE, inData, OBJECT, 264, 0, 0), out, 0)
                .invalidField(72, OBJECT);
        device.run(new ByteRangeCommand(ServiceAction.WRITE, inData, OBJECT, 256, 0, 0), out, 0)
                .isGood();
        CommonFields same = v2().withAttributes(new ListParameters(new BufferPart(256, 16),
                BufferPart.NONE, new BufferPart(256, 16)));
        device.run(new ByteRangeCommand(ServiceAction.WRITE, same, OBJECT, 8, 0, 0), out, 0)
                .invalidField(56, OBJECT);
        CommonFields overRead = v2().withAttributes(ListParameters
                .get(new BufferPart(0, 16), new BufferPart(8, 100)));
        device.run(new ByteRangeCommand(ServiceAction.READ, overRead, OBJECT, 16, 0, 0), out,
                1000).invalidField(64, OBJECT);
    }

    @Test
    void shouldReportWriteAsCompleteIfItsAttributesAreRefused() {
        Lists lists = Attributes.lists(OsdVersion.OSD_2, 256,
                List.of(Attributes.set(new AttributeId(0x7f, 1), (byte) 1)),
                List.of(UserObjectAttribute.LOGICAL_LENGTH.id()), 0);
        device.run(new ByteRangeCommand(ServiceAction.WRITE, lists.in(v2()), OBJECT, 2, 0, 0),
                lists.out(), 1000).invalidParameter(8, OBJECT)
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.SET_ATTRIBUTES_CAPABILITY,
                        CommandFunction.GET_ATTRIBUTES_CAPABILITY, CommandFunction.COMMAND)
                .notInitiated(CommandFunction.GET_ATTRIBUTES);
        assertThat(content()).isEqualTo("\0\0");
    }

    @Test
    void shouldEndWithBusyWithoutMemory() {
        var task = device.task(new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT,
                OsdFixture.MAX_TRANSFER, 0, 0).bytes(), new byte[0], OsdFixture.MAX_TRANSFER);
        task.memory(100);
        assertThat(task.run().status()).isEqualTo(Status.BUSY);
    }

    @Test
    void shouldEnforceQuotasOfData() {
        var partition = ObjectId.ofPartition(PARTITION);
        Attributes.set(device, partition,
                Attributes.number(PartitionAttribute.CAPACITY_QUOTA.id(), 100, 8)).isGood();
        Attributes.set(device, OBJECT,
                Attributes.number(UserObjectAttribute.MAX_LENGTH.id(), 50, 8)).isGood();
        device.write(OBJECT, 0, new byte[50]).isGood();
        assertQuota(device.write(OBJECT, 50, new byte[1]), OBJECT,
                UserObjectAttribute.MAX_LENGTH.id());
        assertQuota(run(ServiceAction.APPEND, 1, 0, new byte[1]), OBJECT,
                UserObjectAttribute.MAX_LENGTH.id());
        assertQuota(run(ServiceAction.CLEAR, 1, 50, new byte[0]), OBJECT,
                UserObjectAttribute.MAX_LENGTH.id());
        assertQuota(Attributes.set(device, OBJECT,
                Attributes.number(UserObjectAttribute.LOGICAL_LENGTH.id(), 51, 8)), OBJECT,
                UserObjectAttribute.MAX_LENGTH.id());
        var other = new ObjectId(PARTITION, 0x2_0000);
        assertQuota(device.run(new ByteRangeCommand(ServiceAction.CREATE_AND_WRITE, v2(), other,
                51, 0, 0), new byte[51], 0), other, PartitionAttribute.CAPACITY_QUOTA.id());
        device.run(new ByteRangeCommand(ServiceAction.CREATE_AND_WRITE, v2(), other, 50, 0, 0),
                new byte[50], 0).isGood();
        Attributes.set(device, OBJECT,
                Attributes.set(UserObjectAttribute.MAX_LENGTH.id())).isGood();
        assertQuota(device.write(OBJECT, 50, new byte[1]), OBJECT,
                PartitionAttribute.CAPACITY_QUOTA.id());
    }

    private static void assertQuota(Reply refused, ObjectId object, AttributeId quota) {
        refused.failed(SenseKey.DATA_PROTECT, AdditionalSense.QUOTA_ERROR, object);
        assertThat(AttributeIdentification.of(refused.sense()).orElseThrow().ids())
                .containsExactly(quota);
    }

    @Test
    void shouldScatterInOneSegment() {
        byte[] segment = ContinuationSegment.of(ServiceAction.WRITE, new ScatterGather(List.of(
                new ScatterGather.Extent(6, 2), new ScatterGather.Extent(0, 3)))).bytes();
        byte[] out = Arrays.copyOf(segment, segment.length + 5);
        System.arraycopy(bytes("abcde"), 0, out, segment.length, 5);
        device.run(new ByteRangeCommand(ServiceAction.WRITE, v2(), OBJECT, 5, 1, segment.length),
                out, 0).isGood();
        assertThat(content()).isEqualTo("\0cde\0\0\0ab");
        device.run(new ByteRangeCommand(ServiceAction.WRITE, v2(), OBJECT, 4, 1, segment.length),
                out, 0).illegal(AdditionalSense.INVALID_FIELD_IN_PARAMETER_LIST, OBJECT);
        device.run(new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT, 5, 1, segment.length),
                segment, 100).invalidParameter(2, OBJECT);
        device.run(new ByteRangeCommand(ServiceAction.WRITE, v2(), OBJECT, 5, 1, segment.length),
                Arrays.copyOf(out, segment.length + 4), 0)
                .illegal(AdditionalSense.PARAMETER_LIST_LENGTH_ERROR, OBJECT);
    }
}
