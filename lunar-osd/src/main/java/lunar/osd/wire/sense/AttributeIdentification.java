package lunar.osd.wire.sense;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.osd.field.Fields;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseDescriptor;
import lunar.scsi.wire.BigEndian;

/**
 * The attributes with the error: the OSD attribute identification descriptor, such as the quota that was exceeded.
 *
 * <pre>
 * 0 type 08h   1 additional length   4 page (4), number (4) for each
 * </pre>
 *
 * @param ids at most {@link #MAX_IDS} attributes
 */
public record AttributeIdentification(List<AttributeId> ids) {
    /** DESCRIPTOR TYPE. */
    public static final int TYPE = 0x08;
    /** Most attributes in a descriptor. */
    public static final int MAX_IDS = 30;

    /** Reserved bytes behind type and length. */
    private static final int RESERVED = 2;
    private static final int ID_LENGTH = 8;

    public AttributeIdentification {
        ids = List.copyOf(ids);
        Fields.check("number of attributes", ids.size(), MAX_IDS);
    }

    /** The attributes in sense data; empty if there is no such descriptor. */
    public static Optional<AttributeIdentification> of(Sense sense) {
        return sense.descriptor(TYPE).map(SenseDescriptor::content).map(Bytes::segment)
                .map(AttributeIdentification::decode);
    }

    private static AttributeIdentification decode(MemorySegment content) {
        var ids = new ArrayList<AttributeId>();
        for (long at = RESERVED; at + ID_LENGTH <= content.byteSize(); at += ID_LENGTH) {
            ids.add(new AttributeId(Fields.bits32(content, at), Fields.bits32(content, at + 4)));
        }
        return new AttributeIdentification(ids);
    }

    /** The descriptor. */
    public SenseDescriptor descriptor() {
        byte[] array = new byte[RESERVED + ID_LENGTH * ids.size()];
        var content = MemorySegment.ofArray(array);
        long at = RESERVED;
        for (AttributeId id : ids) {
            BigEndian.int32(content, at, id.page());
            BigEndian.int32(content, at + 4, id.number());
            at += ID_LENGTH;
        }
        return new SenseDescriptor(TYPE, Bytes.of(array));
    }
}
