package lunar.osd.wire.sense;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseDescriptor;
import lunar.scsi.wire.BigEndian;

/**
 * The object with the error and what became of the command: the OSD error identification descriptor, which every error
 * has.
 *
 * <pre>
 * 0 type 06h   1 additional length 1Eh   8 not initiated functions (4)   12 completed functions (4)   16 object (16)
 * </pre>
 *
 * @param notInitiated functions that were not begun
 * @param completed functions that were completed
 * @param object partition and object
 */
public record ObjectIdentification(Set<CommandFunction> notInitiated,
        Set<CommandFunction> completed, ObjectId object) {
    /** DESCRIPTOR TYPE. */
    public static final int TYPE = 0x06;

    /** The offsets count from the content, behind type and length. */
    private static final int NOT_INITIATED_AT = 6;
    private static final int COMPLETED_AT = 10;
    private static final int PARTITION_AT = 14;
    private static final int OBJECT_AT = 22;
    private static final int CONTENT_LENGTH = 30;

    public ObjectIdentification {
        notInitiated = copy(notInitiated);
        completed = copy(completed);
    }

    private static Set<CommandFunction> copy(Set<CommandFunction> functions) {
        var copy = EnumSet.noneOf(CommandFunction.class);
        copy.addAll(functions);
        return Collections.unmodifiableSet(copy);
    }

    /** No function of the command was begun. */
    public static ObjectIdentification of(ObjectId object) {
        return new ObjectIdentification(EnumSet.allOf(CommandFunction.class), Set.of(), object);
    }

    /** The object in sense data; empty if there is none, or its descriptor is too short. */
    public static Optional<ObjectIdentification> of(Sense sense) {
        return sense.descriptor(TYPE).map(SenseDescriptor::content)
                .filter(content -> content.length() >= CONTENT_LENGTH)
                .map(Bytes::segment).map(content -> new ObjectIdentification(
                        CommandFunction.ofMask(Fields.bits32(content, NOT_INITIATED_AT)),
                        CommandFunction.ofMask(Fields.bits32(content, COMPLETED_AT)),
                        new ObjectId(BigEndian.int64(content, PARTITION_AT),
                                BigEndian.int64(content, OBJECT_AT))));
    }

    /** The descriptor. */
    public SenseDescriptor descriptor() {
        byte[] array = new byte[CONTENT_LENGTH];
        var content = MemorySegment.ofArray(array);
        BigEndian.int32(content, NOT_INITIATED_AT, CommandFunction.mask(notInitiated));
        BigEndian.int32(content, COMPLETED_AT, CommandFunction.mask(completed));
        BigEndian.int64(content, PARTITION_AT, object.partition());
        BigEndian.int64(content, OBJECT_AT, object.object());
        return new SenseDescriptor(TYPE, Bytes.of(array));
    }
}
