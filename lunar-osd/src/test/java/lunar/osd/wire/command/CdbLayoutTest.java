package lunar.osd.wire.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.stream.Stream;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.Bytes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The layout of every command in both versions, written by hand. */
class CdbLayoutTest {
    private static final CommonFields ONE = CommonFields.of(OsdVersion.OSD_1);
    private static final CommonFields TWO = CommonFields.of(OsdVersion.OSD_2);
    private static final ObjectId OBJECT = new ObjectId(0x10001, 0x20002);
    private static final String OF_OBJECT = " 20:00010001 28:00020002";
    private static final String OF_PARTITION = " 20:00010001";

    /** A CDB without attributes: bytes that are set beside the list format and the unused offsets. */
    record Layout(String runs, OsdCdb cdb) {
        byte[] bytes() {
            boolean osd1 = cdb.common().version() == OsdVersion.OSD_1;
            return Hex.runs(osd1 ? 200 : 236, (osd1 ? "0:7f 7:c0" : "0:7f 7:e4")
                    + (runs.contains(" 11:") ? "" : " 11:30")
                    + (runs.contains(" 52:") ? " " : " 56:ffffffff 64:ffffffff 72:ffffffff ")
                    + runs);
        }

        @Override
        public String toString() { return cdb.action() + " in " + cdb.common().version(); }
    }

    static Stream<Layout> layouts() {
        return Stream.of(ranges(), flushes(), containers(), lists(), osd2(), keys(), fields())
                .flatMap(each -> each);
    }

    private static Stream<Layout> ranges() {
        String v1 = OF_OBJECT + " 36:0000000000001234 44:8000000000000001";
        String v2 = OF_OBJECT + " 32:0000000000001234 40:8000000000000001 48:00000028";
        return Stream.of(
                new Layout("8:8805" + v1, range(ServiceAction.READ, ONE)),
                new Layout("8:8806" + v1, range(ServiceAction.WRITE, ONE)),
                new Layout("8:8812" + v1, range(ServiceAction.CREATE_AND_WRITE, ONE)),
                new Layout("8:8807" + OF_OBJECT + " 36:ffffffffffffffff",
                        new ByteRangeCommand(ServiceAction.APPEND, ONE, OBJECT, -1, 0, 0)),
                new Layout("8:8885" + v2, range(ServiceAction.READ, TWO)),
                new Layout("8:8886" + v2, range(ServiceAction.WRITE, TWO)),
                new Layout("8:8892" + v2, range(ServiceAction.CREATE_AND_WRITE, TWO)),
                new Layout("8:8889" + v2, range(ServiceAction.CLEAR, TWO)),
                new Layout("8:8884" + v2, range(ServiceAction.PUNCH, TWO)),
                new Layout("8:8887" + OF_OBJECT + " 38:1000",
                        new ByteRangeCommand(ServiceAction.APPEND, TWO, OBJECT, 4096, 0, 0)));
    }

    private static OsdCdb range(ServiceAction action, CommonFields common) {
        return new ByteRangeCommand(action, common, OBJECT, 0x1234, Long.MIN_VALUE + 1,
                common.version() == OsdVersion.OSD_1 ? 0 : 40);
    }

    private static Stream<Layout> flushes() {
        ObjectId partition = ObjectId.ofPartition(0x10001);
        return Stream.of(
                new Layout("8:8808 10:01" + OF_OBJECT, new FlushCommand(ServiceAction.FLUSH, ONE,
                        OBJECT, FlushScope.ATTRIBUTES, 0, 0, 0)),
                new Layout("8:8888 10:02" + OF_OBJECT + " 38:1000 46:2000",
                        new FlushCommand(ServiceAction.FLUSH, TWO, OBJECT,
                                FlushScope.RANGE_AND_ATTRIBUTES, 0x1000, 0x2000, 0)),
                new Layout("8:881a 10:02" + OF_OBJECT, new FlushCommand(
                        ServiceAction.FLUSH_COLLECTION, ONE, OBJECT, FlushScope.ALL, 0, 0, 0)),
                new Layout("8:889a" + OF_OBJECT, new FlushCommand(ServiceAction.FLUSH_COLLECTION,
                        TWO, OBJECT, FlushScope.MEMBERS, 0, 0, 0)),
                new Layout("8:881b" + OF_PARTITION, new FlushCommand(
                        ServiceAction.FLUSH_PARTITION, ONE, partition, FlushScope.MEMBERS, 0, 0,
                        0)),
                new Layout("8:889b 10:1a" + OF_PARTITION,
                        new FlushCommand(ServiceAction.FLUSH_PARTITION,
                                TWO.withOptions(
                                        new CommandOptions(Isolation.DEFAULT, true, true, false)),
                                partition, FlushScope.ALL, 0, 0, 0)),
                new Layout("8:881c 10:01", new FlushCommand(ServiceAction.FLUSH_OSD, ONE,
                        ObjectId.ROOT, FlushScope.OWN_ATTRIBUTES, 0, 0, 0)),
                new Layout("8:889c", new FlushCommand(ServiceAction.FLUSH_OSD, TWO, ObjectId.ROOT,
                        FlushScope.MEMBERS, 0, 0, 0)));
    }

    private static Stream<Layout> containers() {
        ObjectId chosen = ObjectId.ofPartition(0x10001);
        return Stream.of(
                new Layout("8:8802" + OF_PARTITION + " 36:0105",
                        new CreateCommand(ONE, chosen, 0x105, 0)),
                new Layout("8:8882" + OF_PARTITION + " 32:0105 48:00000030",
                        new CreateCommand(TWO, chosen, 0x105, 48)),
                new Layout("8:880b" + OF_PARTITION, new CreatePartitionCommand(ONE, 0x10001, 0)),
                new Layout("8:888b" + OF_PARTITION, new CreatePartitionCommand(TWO, 0x10001, 0)),
                new Layout("8:8815" + OF_OBJECT, new CreateCollectionCommand(
                        ServiceAction.CREATE_COLLECTION, ONE, OBJECT, 0, false, 0)),
                new Layout("8:8895" + OF_OBJECT, new CreateCollectionCommand(
                        ServiceAction.CREATE_COLLECTION, TWO, OBJECT, 0, false, 0)),
                new Layout("8:8894 11:b0" + OF_OBJECT + " 44:00030003 51:28",
                        new CreateCollectionCommand(ServiceAction.CREATE_USER_TRACKING_COLLECTION,
                                TWO, OBJECT, 0x30003, true, 40)),
                new Layout("8:880a" + OF_OBJECT,
                        new RemoveCommand(ServiceAction.REMOVE, ONE, OBJECT, false, 0)),
                new Layout("8:888a" + OF_OBJECT,
                        new RemoveCommand(ServiceAction.REMOVE, TWO, OBJECT, false, 0)),
                new Layout("8:880c" + OF_PARTITION, new RemoveCommand(
                        ServiceAction.REMOVE_PARTITION, ONE, chosen, false, 0)),
                new Layout("8:888c 11:31" + OF_PARTITION + " 51:28", new RemoveCommand(
                        ServiceAction.REMOVE_PARTITION, TWO, chosen, true, 40)),
                new Layout("8:8816 11:31" + OF_OBJECT, new RemoveCommand(
                        ServiceAction.REMOVE_COLLECTION, ONE, OBJECT, true, 0)),
                new Layout("8:8896" + OF_OBJECT, new RemoveCommand(
                        ServiceAction.REMOVE_COLLECTION, TWO, OBJECT, false, 0)),
                new Layout("8:8801 40:04", new FormatOsdCommand(ONE, 0x400_0000, 0)),
                new Layout("8:8881 36:04", new FormatOsdCommand(TWO, 0x400_0000, 0)));
    }

    private static Stream<Layout> lists() {
        return Stream.of(
                new Layout("8:8803" + OF_PARTITION + " 32:01020304 42:2000 48:00090009",
                        new ListCommand(ServiceAction.LIST, ONE, ObjectId.ofPartition(0x10001),
                                0x2000, 0x90009, 0x1020304, false)),
                new Layout("8:8883 11:70" + OF_PARTITION + " 38:2000 44:00090009 48:01020304",
                        new ListCommand(ServiceAction.LIST, TWO, ObjectId.ofPartition(0x10001),
                                0x2000, 0x90009, 0x1020304, true)),
                new Layout("8:8817" + OF_OBJECT + " 32:ffffffff 43:18",
                        new ListCommand(ServiceAction.LIST_COLLECTION, ONE, OBJECT, 24, 0,
                                0xffff_ffffL, false)),
                new Layout("8:8897" + OF_OBJECT + " 39:18 48:ffffffff",
                        new ListCommand(ServiceAction.LIST_COLLECTION, TWO, OBJECT, 24, 0,
                                0xffff_ffffL, false)));
    }

    private static Stream<Layout> osd2() {
        return Stream.of(
                new Layout("8:880e" + OF_OBJECT, new AttributesCommand(
                        ServiceAction.GET_ATTRIBUTES, ONE, OBJECT, false, 0)),
                new Layout("8:880f" + OF_OBJECT, new AttributesCommand(
                        ServiceAction.SET_ATTRIBUTES, ONE, OBJECT, false, 0)),
                new Layout("8:88a1 11:b0" + OF_OBJECT, new AttributesCommand(
                        ServiceAction.REMOVE_MEMBER_OBJECTS, TWO, OBJECT, true, 0)),
                new Layout("8:88a2" + OF_OBJECT + " 51:30", new AttributesCommand(
                        ServiceAction.GET_MEMBER_ATTRIBUTES, TWO, OBJECT, false, 48)),
                new Layout("8:88a3" + OF_OBJECT, new AttributesCommand(
                        ServiceAction.SET_MEMBER_ATTRIBUTES, TWO, OBJECT, false, 0)),
                new Layout("8:88a0 11:b0" + OF_OBJECT + " 38:0400 44:00040004 51:58",
                        new QueryCommand(TWO, OBJECT, 1024, 0x40004, true, 0x58)),
                new Layout("8:88b1" + OF_OBJECT + " 38:0400 46:2000 48:8000",
                        new ReadMapCommand(TWO, OBJECT, 1024, 0x2000, 0x8000)),
                new Layout("8:8880" + OF_PARTITION, new StructureCheckCommand(TWO, 0x10001, 0)),
                new Layout("8:8880", new StructureCheckCommand(TWO, 0, 0)));
    }

    private static Stream<Layout> keys() {
        String id = "01020304050607";
        String seed = "101112131415161718191a1b1c1d1e1f20212223";
        String setKey = OF_PARTITION + " 24:0c" + id + " 32:" + seed;
        String setMasterKey = " 24:02" + id + " 32:0000010400000200";
        return Stream.of(
                new Layout("8:8818 11:33" + setKey, new SetKeyCommand(ONE, KeyLevel.WORKING,
                        0x10001, 12, Bytes.ofHex(id), Bytes.ofHex(seed))),
                new Layout("8:8898 11:32" + setKey, new SetKeyCommand(TWO, KeyLevel.PARTITION,
                        0x10001, 12, Bytes.ofHex(id), Bytes.ofHex(seed))),
                new Layout("8:8819" + setMasterKey,
                        new SetMasterKeyCommand(ONE, false, 2, Bytes.ofHex(id), 0x104, 0x200)),
                new Layout("8:8899 11:31" + setMasterKey,
                        new SetMasterKeyCommand(TWO, true, 2, Bytes.ofHex(id), 0x104, 0x200)),
                new Layout("8:8f7e" + OF_OBJECT + " 32:1200000060", perform(ONE)),
                new Layout("8:8f7c" + OF_OBJECT + " 32:1200000060", perform(TWO)),
                new Layout("8:8f7f" + OF_OBJECT + " 32:0008 39:08 40:0102030405060708",
                        manage(ONE)),
                new Layout("8:8f7d" + OF_OBJECT + " 32:0008 39:08 40:0102030405060708",
                        manage(TWO)));
    }

    private static OsdCdb perform(CommonFields common) {
        return new PerformScsiCommand(common, OBJECT,
                Bytes.ofHex("12000000600000000000000000000000"));
    }

    private static OsdCdb manage(CommonFields common) {
        return new PerformTaskManagementCommand(common, OBJECT, 8, 8, 0x0102030405060708L);
    }

    /** Formats of attributes, options and security parameters. */
    private static Stream<Layout> fields() {
        AttributeParameters page = new PageParameters(0x9000_0002, new BufferPart(0x300, 0x2c),
                Optional.of(new AttributeId(0x9000_0001, 9)), new BufferPart(0x200, 5));
        AttributeParameters field = new FieldParameters(
                new Attribute(new AttributeId(1, 0x82), Bytes.ofHex("0000000000001000")));
        String nonce = "0000000003e8a1a2a3a4a5a6"; // 1000 ms, random bytes
        return Stream.of(
                new Layout("8:880e 11:20 52:90000002 56:0000002c00000003 64:9000000100000009"
                        + " 72:0000000500000002", ofRoot(ONE.withAttributes(page))),
                new Layout("8:888e 11:20 52:90000002 56:0000002cb0000060 64:9000000100000009"
                        + " 72:00000005b0000040", ofRoot(TWO.withAttributes(page))),
                new Layout("8:888e 11:20 52:90000002 60:ffffffff 76:ffffffff", ofRoot(
                        TWO.withAttributes(PageParameters.get(0x9000_0002, BufferPart.NONE)))),
                new Layout("8:888e 11:10 52:00000001 56:00000082 60:0008 62:0000000000001000",
                        ofRoot(TWO.withAttributes(field))),
                new Layout("8:888e 10:1d 12:7f", ofRoot(TWO.withOptions(
                        new CommandOptions(Isolation.FUNCTIONAL, true, true, true)))),
                new Layout("8:880e 160:" + "c1".repeat(20) + " 180:" + nonce
                        + " 192:0000000100000002",
                        ofRoot(ONE.withSecurity(security(20, nonce)))),
                new Layout("8:888e 184:" + "c1".repeat(32) + " 216:" + nonce
                        + " 228:0000000100000002",
                        ofRoot(TWO.withSecurity(security(32, nonce)))));
    }

    private static OsdCdb ofRoot(CommonFields common) {
        return new AttributesCommand(ServiceAction.GET_ATTRIBUTES, common, ObjectId.ROOT, false,
                0);
    }

    private static SecurityParameters security(int length, String nonce) {
        return new SecurityParameters(Bytes.ofHex("c1".repeat(length)),
                new RequestNonce(1000, Bytes.ofHex(nonce.substring(12))), 1, 2);
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void shouldDecode(Layout layout) throws Exception {
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(layout.bytes())))
                .isEqualTo(layout.cdb);
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void shouldEncode(Layout layout) { assertThat(layout.cdb.bytes()).isEqualTo(layout.bytes()); }
}
