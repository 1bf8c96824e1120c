package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v1;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.osd.store.DataRange;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommandOptions;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.Isolation;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.PerformScsiCommand;
import lunar.osd.wire.command.PerformTaskManagementCommand;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.command.SetMasterKeyCommand;
import lunar.osd.wire.command.StructureCheckCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OtherCommandsTest {
    private static final ObjectId IN_PARTITION = ObjectId.ofPartition(PARTITION);
    private static final ObjectId MISSING = ObjectId.ofPartition(0x9_9999);

    private OsdFixture device;

    @BeforeEach
    void open() throws Exception { device = new OsdFixture().withObject(); }

    @AfterEach
    void close() throws Exception { device.close(); }

    private Reply raw(String hex, int in) {
        return device.run(Arrays.copyOf(Bytes.ofHex(hex).toArray(), 16), new byte[0], in);
    }

    @Test
    void shouldBeAnObjectBasedStorageDevice() {
        byte[] inquiry = raw("12 00 00 00 60 00", 96).isGood().data();
        assertThat(inquiry[0]).isEqualTo((byte) 0x11);
        assertThat(new String(inquiry, 8, 28, StandardCharsets.US_ASCII))
                .isEqualTo("LUNAR   OSD             0.1 ");
        assertThat(Bytes.of(Arrays.copyOfRange(inquiry, 58, 74)).toString())
                .isEqualTo("00a0" + "0460" + "05c0" + "0960" + "0340" + "0440" + "00000000");
        byte[] pages = raw("12 01 00 00 ff 00", 255).isGood().data();
        assertThat(Bytes.of(pages).toString()).startsWith("1100").endsWith("b0b1");
        raw("12 01 b0 00 ff 00", 255).isGood().has("11b00000");
        raw("12 01 b1 00 ff 00", 255).isGood().has("11b10000");
        raw("00", 0).isGood();
        byte[] mode = raw("1a 00 0a 00 ff 00", 255).isGood().data();
        assertThat(mode).isNotEmpty();
    }

    @Test
    void shouldReportItsCommands() {
        byte[] commands = raw("a3 0c 00 00 00 00 00 01 00 00", 1 << 16).isGood().data();
        assertThat(Bytes.of(commands).toString()).contains("7f00888e", "7f00880e")
                .doesNotContain("7f008898", "7f008893");
        byte[] one = raw("a3 0c 02 7f 88 85 00 00 10 00", 1 << 12).isGood().data();
        assertThat(one).hasSize(4 + 236);
    }

    @Test
    void shouldFlushByScope() {
        for (FlushScope scope : FlushScope.values()) {
            boolean range = scope == FlushScope.RANGE_AND_ATTRIBUTES;
            boolean ofObject = range || scope == FlushScope.DATA_AND_ATTRIBUTES
                    || scope == FlushScope.ATTRIBUTES;
            if (ofObject) {
                flush(ServiceAction.FLUSH, OBJECT, scope, range ? 10 : 0).isGood();
            } else {
                flush(ServiceAction.FLUSH_PARTITION, IN_PARTITION, scope, 0).isGood();
                flush(ServiceAction.FLUSH_OSD, ObjectId.ROOT, scope, 0).isGood();
                flush(ServiceAction.FLUSH_COLLECTION, IN_PARTITION, scope, 0).isGood();
            }
        }
        flush(ServiceAction.FLUSH_PARTITION, MISSING, FlushScope.ALL, 0).invalidField(16,
                MISSING);
        flush(ServiceAction.FLUSH_COLLECTION, OBJECT, FlushScope.ALL, 0).invalidField(24,
                OBJECT);
        var object = new ObjectId(PARTITION, 0x9_9999);
        flush(ServiceAction.FLUSH, object, FlushScope.ATTRIBUTES, 0).invalidField(24, object);
    }

    @Test
    void shouldFlushForInitiatorThatMayOnlyRead() {
        device.show(true);
        flush(ServiceAction.FLUSH_OSD, ObjectId.ROOT, FlushScope.ALL, 0).isGood();
        CommonFields sets = v2().withAttributes(ListParameters.set(new BufferPart(0, 8)));
        Reply refused = device.run(new FlushCommand(ServiceAction.FLUSH_OSD, sets, ObjectId.ROOT,
                FlushScope.ALL, 0, 0, 0), new byte[]{9, 0, 0, 0, 0, 0, 0, 0}, 0);
        assertThat(refused.sense().key()).isEqualTo(SenseKey.DATA_PROTECT);
    }

    /** Attributes are set after the function of the command. */
    @Test
    void shouldFlushAttributesThatACommandSets() throws Exception {
        var id = new AttributeId(0x1_0000, 1);
        var flushed = new ArrayList<Bytes>();
        CommonFields fua = v2()
                .withOptions(new CommandOptions(Isolation.DEFAULT, true, false, false));
        try (var flushing = new OsdFixture(InterceptedStore.of("flush", (store, _) -> {
            flushed.add(store.<Bytes, RuntimeException>query(
                    objects -> objects.attribute(OBJECT, id)));
            return Optional.empty();
        })).withObject()) {
            for (int value = 1; value <= 2; value++) {
                flushed.clear();
                Attributes.Lists lists = Attributes.lists(
                        List.of(Attributes.set(id, (byte) value)), List.of());
                OsdCdb command = value == 1
                        ? new ByteRangeCommand(ServiceAction.READ, lists.in(fua), OBJECT, 0, 0, 0)
                        : new FlushCommand(ServiceAction.FLUSH, lists.in(v2()), OBJECT,
                                FlushScope.ATTRIBUTES, 0, 0, 0);
                flushing.run(command, lists.out(), 0).isGood();
                assertThat(flushed).last().as(command.toString())
                        .isEqualTo(Bytes.of((byte) value));
            }
            flushed.clear();
            flushing.run(new ByteRangeCommand(ServiceAction.READ, fua, OBJECT, 0, 0, 0)).isGood();
            assertThat(flushed).isEmpty();
        }
    }

    @Test
    void shouldRefuseIsolationThatIsNotSupported() {
        for (Isolation isolation : Isolation.values()) {
            CommonFields common = v2()
                    .withOptions(new CommandOptions(isolation, false, false, false));
            Reply reply = device.run(new ByteRangeCommand(ServiceAction.READ, common, OBJECT, 0,
                    0, 0));
            if (isolation == Isolation.DEFAULT || isolation == Isolation.NONE) {
                reply.isGood();
            } else {
                reply.invalidField(10, OBJECT);
            }
        }
    }

    private Reply flush(ServiceAction action, ObjectId object, FlushScope scope, long count) {
        return device.run(new FlushCommand(action, v2(), object, scope, count, 0, 0));
    }

    @Test
    void shouldMapWrittenRanges() {
        device.write(OBJECT, 0, new byte[100]).isGood();
        map(1000, 10, 0).isGood().has("0000000000000010 0000 0001 0000005a 000000000000000a");
        map(1000, 10, 1).isGood().has("0000000000000010 0000 0001 0000005a 000000000000000a");
        map(12, 10, 0).isGood().has("0000000000000010 0000 0001");
        map(1000, 10, 2).isGood().has("0000000000000000");
        map(1000, 100, 0).isGood().has("0000000000000000");
        map(1000, 0, 0x8000).isGood().has("0000000000000000");
        map(1000, 0, 7).invalidField(48, OBJECT);
        map(1000, -1, 0).invalidField(40, OBJECT);
    }

    @Test
    void shouldCountRangesOfTheTypeThatIsWanted() throws Exception {
        List<DataRange> ranges = List.of(new DataRange(0, 10, true),
                new DataRange(10, 10, false), new DataRange(20, 10, true));
        try (var sparse = new OsdFixture(InterceptedStore.of("ranges",
                (_, arguments) -> Optional.of(ranges.stream()
                        .filter(range -> range.offset() >= (long) arguments[1])
                        .limit((int) arguments[2]).toList())))
                .withObject()) {
            sparse.write(OBJECT, 0, new byte[30]).isGood();
            String first = "0000 0001 0000000a 0000000000000000";
            String hole = "0000 0002 0000000a 000000000000000a";
            String last = "0000 0001 0000000a 0000000000000014";
            map(sparse, 1000, 0, 0).isGood().has("0000000000000030" + first + hole + last);
            map(sparse, 1000, 0, 1).isGood().has("0000000000000020" + first + last);
            map(sparse, 24, 0, 1).isGood().has("0000000000000020" + first);
            map(sparse, 8, 0, 0).isGood().has("0000000000000030");
            map(sparse, 1000, 0, 2).isGood().has("0000000000000010" + hole);
            map(sparse, 12, 0, 2).isGood().has("0000000000000010 0000 0002");
        }
    }

    private Reply map(long allocation, long start, int type) {
        return map(device, allocation, start, type);
    }

    private static Reply map(OsdFixture device, long allocation, long start, int type) {
        return device.run(new ReadMapCommand(v2(), OBJECT, allocation, start, type));
    }

    @Test
    void shouldCheckStructure() {
        device.run(new StructureCheckCommand(v2(), 0, 0)).isGood();
        device.run(new StructureCheckCommand(v2(), PARTITION, 0)).isGood();
        device.run(new StructureCheckCommand(v2(), 0x9_9999, 0)).invalidField(16, MISSING);
    }

    @Test
    void shouldNotSupportKeysAndCommandsWithoutLayout() {
        device.run(new SetKeyCommand(v2(), KeyLevel.WORKING, PARTITION, 1,
                Bytes.of(new byte[7]), Bytes.of(new byte[20])))
                .illegal(AdditionalSense.INVALID_COMMAND_OPERATION_CODE, IN_PARTITION);
        device.run(new SetMasterKeyCommand(v2(), false, 1, Bytes.of(new byte[7]), 0, 100))
                .illegal(AdditionalSense.INVALID_COMMAND_OPERATION_CODE, ObjectId.ROOT);
        byte[] copy = new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT, 1, 0, 0).bytes();
        for (int action : new int[]{0x93, 0xa8, 0xb2, 0x8d, 0x81}) {
            copy[9] = (byte) action;
            if (action == 0x81) {
                copy[8] = (byte) 0x8f;
            }
            device.run(copy, new byte[0], 0)
                    .illegal(AdditionalSense.INVALID_COMMAND_OPERATION_CODE, OBJECT);
        }
    }

    @Test
    void shouldRefuseCdbOfWrongLength() {
        byte[] read = new ByteRangeCommand(ServiceAction.READ, v2(), OBJECT, 1, 0, 0).bytes();
        device.run(Arrays.copyOf(read, 200), new byte[0], 0).invalidField(200, OBJECT);
        device.run(Arrays.copyOf(read, 16), new byte[0], 0).invalidField(16, ObjectId.ROOT);
        read[7] = 100;
        device.run(read, new byte[0], 0).invalidField(7, OBJECT);
    }

    private Reply perform(String cdb, byte[] out, int in) {
        return device.run(new PerformScsiCommand(v2(), ObjectId.ROOT,
                Bytes.of(Arrays.copyOf(Bytes.ofHex(cdb).toArray(), 16))), out, in);
    }

    @Test
    void shouldPerformScsiCommands() {
        perform("00", new byte[0], 0).isGood();
        assertThat(perform("12 00 00 00 60 00", new byte[0], 96).isGood().data()[0])
                .isEqualTo((byte) 0x11);
        assertThat(perform("ff", new byte[0], 0).sense().additional())
                .isEqualTo(AdditionalSense.INVALID_COMMAND_OPERATION_CODE);
        perform("7f 00 00 00 00 00 00 e4 88 85", new byte[0], 0).invalidField(16, ObjectId.ROOT);
        byte[] key = new byte[24];
        key[15] = 1;
        perform("5f 00 00 00 00 00 00 00 18 00", key, 0).isGood(); // REGISTER
        assertThat(perform("5f 01 03 00 00 00 00 00 18 00", new byte[24], 0).status())
                .isEqualTo(Status.RESERVATION_CONFLICT); // RESERVE with another key
    }

    @Test
    void shouldPerformScsiCommandsWithEmptyAttributeParametersOfAnyFormat() {
        Bytes ready = Bytes.of(new byte[16]);
        device.run(new PerformScsiCommand(v2().withAttributes(new PageParameters(
                PageParameters.NO_PAGE, BufferPart.NONE, Optional.empty(), BufferPart.NONE)),
                ObjectId.ROOT, ready)).isGood();
        device.run(new PerformScsiCommand(v2().withAttributes(PageParameters.get(1,
                new BufferPart(0, 100))), ObjectId.ROOT, ready)).invalidField(52, ObjectId.ROOT);
    }

    @Test
    void shouldRejectTaskManagement() {
        device.run(new PerformTaskManagementCommand(v2(), ObjectId.ROOT, 8, 1, 5)).isGood()
                .has("0006000008000000");
        device.run(new PerformTaskManagementCommand(v1(), ObjectId.ROOT, 3, 1, 5)).isGood()
                .has("000600");
        device.run(new PerformTaskManagementCommand(v2().withAttributes(PageParameters.get(1,
                new BufferPart(0, 100))), ObjectId.ROOT, 8, 1, 5)).invalidField(52, ObjectId.ROOT);
    }

    @Test
    void shouldTakeOsd1CdbWithLengthOfOsd2() {
        byte[] read = new ByteRangeCommand(ServiceAction.READ, v1(), OBJECT, 0, 0, 0).bytes();
        assertThat(read).hasSize(OsdVersion.OSD_1.cdbLength());
        read[7] = (byte) 228;
        device.run(read, new byte[0], 0).isGood();
    }
}
