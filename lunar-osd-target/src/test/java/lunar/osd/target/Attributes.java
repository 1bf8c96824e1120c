package lunar.osd.target;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;

/** Lists of attributes for commands, and commands that have nothing else. */
final class Attributes {
    private static final int ALLOCATION = 64 << 10;

    /** Lists of a command: where the CDB says they are, and their bytes. */
    record Lists(ListParameters parameters, byte[] out) {
        CommonFields in(CommonFields common) { return common.withAttributes(parameters); }
    }

    private Attributes() {}

    static Attribute set(AttributeId id, byte... value) {
        return new Attribute(id, Bytes.of(value));
    }

    static Attribute number(AttributeId id, long value, int length) {
        return new Attribute(id, Values.number(value, length));
    }

    /** Lists behind data of a length that is a multiple of 256, retrieved attributes behind as many bytes. */
    static Lists lists(OsdVersion version, int dataBytes, List<Attribute> set,
            List<AttributeId> get, int retrievedAt) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(new byte[dataBytes]);
        BufferPart setList = BufferPart.NONE;
        if (!set.isEmpty()) {
            byte[] bytes = new SetAttributesList(set).bytes(version);
            setList = new BufferPart(out.size(), bytes.length);
            out.writeBytes(bytes);
            out.writeBytes(new byte[-out.size() & 0xff]);
        }
        BufferPart getList = BufferPart.NONE;
        if (!get.isEmpty()) {
            byte[] bytes = new GetAttributesList(get).bytes(version);
            getList = new BufferPart(out.size(), bytes.length);
            out.writeBytes(bytes);
        }
        return new Lists(new ListParameters(getList,
                get.isEmpty() ? BufferPart.NONE : new BufferPart(retrievedAt, ALLOCATION),
                setList), out.toByteArray());
    }

    static Lists lists(List<Attribute> set, List<AttributeId> get) {
        return lists(OsdVersion.OSD_2, 0, set, get, 0);
    }

    static Reply set(OsdFixture device, ObjectId object, Attribute... attributes) {
        Lists lists = lists(List.of(attributes), List.of());
        return device.run(new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                lists.in(OsdFixture.v2()), object, false, 0), lists.out(), 0);
    }

    static Reply getReply(OsdFixture device, ObjectId object, AttributeId... ids) {
        Lists lists = lists(List.of(), List.of(ids));
        return device.run(new AttributesCommand(ServiceAction.GET_ATTRIBUTES,
                lists.in(OsdFixture.v2()), object, false, 0), lists.out(), ALLOCATION);
    }

    static List<Attribute> get(OsdFixture device, ObjectId object, AttributeId... ids) {
        return decode(getReply(device, object, ids).isGood().data());
    }

    static List<Attribute> decode(byte[] list) {
        try {
            return RetrievedAttributesList
                    .decode(MemorySegment.ofArray(list), OsdVersion.OSD_2).attributes();
        } catch (MalformedDataException e) {
            throw new AssertionError(e);
        }
    }

    static Bytes value(OsdFixture device, ObjectId object, AttributeId id) {
        return get(device, object, id).getFirst().value();
    }

    static long numberOf(OsdFixture device, ObjectId object, AttributeId id) {
        return Values.number(value(device, object, id));
    }
}
