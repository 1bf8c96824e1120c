package lunar.osd.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.EncodedOffset;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.MalformedDataException;

/**
 * A command with its buffers as they go over the wire.
 *
 * <pre>
 * data-out: continuation segment, data, set attributes list, get attributes list
 * data-in:  data, retrieved attributes list
 * </pre>
 *
 * <p>The caller's buffer is used as it is where it is the only part; otherwise its bytes are copied.
 */
final class CommandFrame {
    private static final OsdVersion VERSION = OsdVersion.OSD_2;
    /** List type of attributes of several objects. */
    private static final int OF_OBJECTS = 0xe;
    private static final int TYPE_MASK = 0xf;

    private final OsdCommand command;
    private final OsdCdb cdb;
    private final MemorySegment dataIn;
    private final MemorySegment dataOut;
    private final BufferPart retrieved;

    /**
     * @param roomBytes allocation length of attributes that are retrieved
     * @param otherwise capability, where the command has none
     */
    CommandFrame(OsdCommand command, int roomBytes, Capability otherwise) {
        this.command = command;
        RequestOptions options = command.options();
        long dataEnd = command.continuation().byteSize() + command.out().byteSize();
        byte[] set = options.sets().isEmpty()
                ? new byte[0]
                : new SetAttributesList(options.sets()).bytes(VERSION);
        byte[] get = options.gets().isEmpty()
                ? new byte[0]
                : new GetAttributesList(options.gets()).bytes(VERSION);
        BufferPart setPart = part(dataEnd, set.length);
        BufferPart getPart = part(setPart.isEmpty() ? dataEnd : setPart.end(), get.length);
        retrieved = part(command.in().byteSize(), get.length == 0 ? 0 : roomBytes);
        cdb = command.cdb().apply(new CommonFields(VERSION, options.wire(),
                new ListParameters(getPart, retrieved, setPart),
                options.capability().orElse(otherwise), SecurityParameters.none(VERSION)));
        dataIn = retrieved.isEmpty() ? command.in() : allocate(retrieved.end());
        long outBytes = Math.max(dataEnd, Math.max(setPart.end(), getPart.end()));
        if (outBytes == command.out().byteSize()) {
            dataOut = command.out();
        } else {
            dataOut = allocate(outBytes);
            dataOut.copyFrom(command.continuation());
            dataOut.asSlice(command.continuation().byteSize()).copyFrom(command.out());
            dataOut.asSlice(setPart.offset()).copyFrom(MemorySegment.ofArray(set));
            dataOut.asSlice(getPart.offset()).copyFrom(MemorySegment.ofArray(get));
        }
    }

    private static BufferPart part(long from, long length) {
        return length == 0
                ? BufferPart.NONE
                : new BufferPart(EncodedOffset.roundUp(from, VERSION), length);
    }

    private static MemorySegment allocate(long length) {
        return MemorySegment.ofArray(new byte[Math.toIntExact(length)]);
    }

    OsdCdb cdb() { return cdb; }

    OsdCommand command() { return command; }

    MemorySegment dataIn() { return dataIn; }

    MemorySegment dataOut() { return dataOut; }

    /** Allocation length of retrieved attributes. */
    int roomBytes() {
        return (int) retrieved.length();
    }

    /** Bytes that the command itself asks for. */
    long wantedBytes() {
        return command.in().byteSize();
    }

    /** Copies the data into the caller's buffer, where they were received elsewhere. */
    void deliver() {
        if (!retrieved.isEmpty()) {
            MemorySegment.copy(dataIn, 0, command.in(), 0, command.in().byteSize());
        }
    }

    /** The attributes of several objects, where the device returns such a list. */
    Optional<List<ObjectAttributes>> objects() throws MalformedDataException {
        MemorySegment list = dataIn.asSlice(retrieved.offset(), retrieved.length());
        return (list.get(ValueLayout.JAVA_BYTE, 0) & TYPE_MASK) == OF_OBJECTS
                ? Optional.of(MultiObjectAttributesList.decode(list).objects())
                : Optional.empty();
    }

    /** The attributes that were retrieved. */
    List<Attribute> attributes() throws MalformedDataException {
        return retrieved.isEmpty()
                ? List.of()
                : RetrievedAttributesList.decode(
                        dataIn.asSlice(retrieved.offset(), retrieved.length()), VERSION)
                        .attributes();
    }
}
