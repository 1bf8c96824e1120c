package lunar.osd.wire.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.stream.Stream;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.scsi.Cdb.Direction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** CDBs that a Linux client sent to another target, byte by byte. */
class GoldenCdbTest {
    private static final int LENGTH = 236;
    private static final long PARTITION = 0x1717_1717L;
    private static final ObjectId OBJECT = new ObjectId(PARTITION, 0x1818_1818L);

    /** All offsets of attributes unused. */
    private static final String NO_ATTRIBUTES = " 56:ffffffff 64:ffffffff 72:ffffffff";

    record Vector(String name, String runs, OsdCdb cdb, Direction direction) {
        @Override
        public String toString() { return name; }
    }

    static Stream<Vector> vectors() {
        String ofRoot = " 80:01 128:01ffe0 135:20";
        String ofPartition = " 80:01 128:02ffe0 135:20 156:17171717";
        String ofObject = " 20:17171717 28:18181818 80:01 128:80ffe0 135:10 156:17171717";
        return Stream.of(
                new Vector("1 GET ATTRIBUTES",
                        "0:7f 7:e4888e 11:30 55:60 62:01b0 72:ffffffff" + ofRoot,
                        new AttributesCommand(ServiceAction.GET_ATTRIBUTES,
                                common(ObjectType.ROOT, 0, ListParameters.get(
                                        new BufferPart(0, 0x60), new BufferPart(0, 0x1b0))),
                                ObjectId.ROOT, false, 0),
                        Direction.BOTH),
                new Vector("2 FORMAT OSD", "0:7f 7:e48881 11:30 36:08" + NO_ATTRIBUTES + ofRoot,
                        new FormatOsdCommand(common(ObjectType.ROOT, 0, ListParameters.NONE),
                                128L << 20, 0),
                        Direction.NONE),
                new Vector("3 CREATE PARTITION",
                        "0:7f 7:e4888b 11:30 20:17171717" + NO_ATTRIBUTES + ofPartition,
                        new CreatePartitionCommand(
                                common(ObjectType.PARTITION, PARTITION, ListParameters.NONE),
                                PARTITION, 0),
                        Direction.NONE),
                new Vector("4 CREATE", "0:7f 7:e48882 11:30" + NO_ATTRIBUTES + ofObject,
                        new CreateCommand(ofObject(ListParameters.NONE), OBJECT, 0, 0),
                        Direction.NONE),
                new Vector("5 WRITE", "0:7f 7:e48886 11:30 38:10" + NO_ATTRIBUTES + ofObject,
                        new ByteRangeCommand(ServiceAction.WRITE, ofObject(ListParameters.NONE),
                                OBJECT, 4096, 0, 0),
                        Direction.OUT),
                new Vector("6 WRITE, scattered",
                        "0:7f 7:e48886 11:30 38:10 51:70" + NO_ATTRIBUTES + ofObject,
                        new ByteRangeCommand(ServiceAction.WRITE, ofObject(ListParameters.NONE),
                                OBJECT, 4096, 0, 0x70),
                        Direction.OUT),
                new Vector("7 READ, scattered",
                        "0:7f 7:e48885 11:30 38:10 51:70" + NO_ATTRIBUTES + ofObject,
                        new ByteRangeCommand(ServiceAction.READ, ofObject(ListParameters.NONE),
                                OBJECT, 4096, 0, 0x70),
                        Direction.BOTH),
                new Vector("8 WRITE with get attributes",
                        "0:7f 7:e48886 11:30 38:10 55:18 56:b0000200 63:38 72:ffffffff" + ofObject,
                        new ByteRangeCommand(ServiceAction.WRITE,
                                ofObject(ListParameters.get(new BufferPart(4096, 0x18),
                                        new BufferPart(0, 0x38))),
                                OBJECT, 4096, 0, 0),
                        Direction.BOTH),
                new Vector("9 SET ATTRIBUTES with get attributes",
                        "0:7f 7:e4888f 11:30 55:18 56:b0000005 63:38 71:28" + ofObject,
                        new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                                ofObject(new ListParameters(new BufferPart(40, 0x18),
                                        new BufferPart(0, 0x38), new BufferPart(0, 0x28))),
                                OBJECT, false, 0),
                        Direction.BOTH));
    }

    private static CommonFields ofObject(AttributeParameters attributes) {
        return common(ObjectType.USER_OBJECT, PARTITION, attributes);
    }

    /** Linux sends the OSD-1 format with OSD-2 offsets, and truncates the object. */
    private static CommonFields common(ObjectType type, long partition,
            AttributeParameters attributes) {
        var permissions = EnumSet.complementOf(EnumSet.of(Permission.MULTI_OBJECT,
                Permission.QUERY, Permission.GLOBAL_REMOVE));
        var object = ObjectDescriptor.of(type == ObjectType.USER_OBJECT
                ? ObjectDescriptor.TYPE_USER_OBJECT
                : ObjectDescriptor.TYPE_PARTITION, ObjectId.ofPartition(partition));
        return CommonFields.of(OsdVersion.OSD_2).withAttributes(attributes).withCapability(
                Capability.unsecured(1, type.code(), permissions, object));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void shouldDecodeWhatLinuxSends(Vector vector) throws Exception {
        OsdCdb cdb = OsdCdbDecoder.decode(MemorySegment.ofArray(Hex.runs(LENGTH, vector.runs)));
        assertThat(cdb).isEqualTo(vector.cdb);
        assertThat(cdb.direction()).isEqualTo(vector.direction);
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void shouldEncodeWhatLinuxSends(Vector vector) {
        byte[] target = new byte[LENGTH];
        Arrays.fill(target, (byte) 0xa5); // all bytes are written
        vector.cdb.encode(MemorySegment.ofArray(target));
        assertThat(target).isEqualTo(Hex.runs(LENGTH, vector.runs));
        assertThat(vector.cdb.length()).isEqualTo(LENGTH);
        assertThat(vector.cdb.opcode()).isEqualTo(0x7f);
    }
}
