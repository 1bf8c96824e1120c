package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.EncodedOffset;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

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

    /** Room for the response integrity check value in a list of attributes. */
    private static final int RESPONSE_ROOM = AttributeRoom.ENTRY + VERSION.integrityLength();

    private final OsdCommand command;
    private final @Nullable FrameSeal seal;
    private final boolean asksResponse;
    private final OsdCdb cdb;
    private final MemorySegment dataIn;
    private final MemorySegment dataOut;
    private final BufferPart setPart;
    private final BufferPart getPart;
    private final BufferPart retrieved;
    private final BufferPart outInfo;
    private final BufferPart inInfo;
    private OptionalLong sealedBytes = OptionalLong.empty();

    /**
     * @param roomBytes allocation length of attributes that are retrieved
     * @param otherwise capability, where the command has none
     * @param seal for a device with security
     */
    CommandFrame(OsdCommand command, int roomBytes, Capability otherwise,
            @Nullable FrameSeal seal) {
        this.command = command;
        this.seal = seal;
        asksResponse = seal != null && seal.sealsResponse() && command.canAskResponse();
        RequestOptions options = command.options();
        long dataEnd = command.continuation().byteSize() + command.out().byteSize();
        byte[] set = options.sets().isEmpty()
                ? new byte[0]
                : new SetAttributesList(options.sets()).bytes(VERSION);
        List<AttributeId> gets = gets(options);
        byte[] get = gets.isEmpty()
                ? new byte[0]
                : new GetAttributesList(gets).bytes(VERSION);
        setPart = part(dataEnd, set.length);
        getPart = part(setPart.isEmpty() ? dataEnd : setPart.end(), get.length);
        retrieved = part(command.in().byteSize(), get.length == 0 ? 0 : room(options, roomBytes));
        long partsEnd = Math.max(dataEnd, Math.max(setPart.end(), getPart.end()));
        long inEnd = Math.max(command.in().byteSize(), retrieved.end());
        boolean sealsData = seal != null && seal.sealsData();
        outInfo = part(partsEnd, sealsData && partsEnd > command.continuation().byteSize()
                ? DataIntegrity.length(DataIntegrity.OUT_PARTS, VERSION)
                : 0);
        inInfo = part(inEnd, sealsData && inEnd > 0
                ? DataIntegrity.length(DataIntegrity.IN_PARTS, VERSION)
                : 0);
        cdb = command.cdb().apply(new CommonFields(VERSION, options.wire(),
                new ListParameters(getPart, retrieved, setPart),
                seal == null ? options.capability().orElse(otherwise) : Capability.NONE,
                security()));
        dataIn = inEnd == command.in().byteSize() && inInfo.isEmpty()
                ? command.in()
                : allocate(Math.max(inEnd, inInfo.end()));
        long outBytes = Math.max(partsEnd, outInfo.end());
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

    private List<AttributeId> gets(RequestOptions options) {
        if (!asksResponse) {
            return options.gets();
        }
        var all = new ArrayList<AttributeId>();
        all.add(CurrentCommandAttribute.RESPONSE_INTEGRITY_CHECK_VALUE.id());
        all.addAll(options.gets());
        return all;
    }

    private int room(RequestOptions options, int roomBytes) {
        int own = options.gets().isEmpty() ? AttributeRoom.HEADER : roomBytes;
        return asksResponse ? Math.addExact(own, RESPONSE_ROOM) : roomBytes;
    }

    private SecurityParameters security() {
        SecurityParameters none = SecurityParameters.none(VERSION);
        return seal == null
                ? none
                : new SecurityParameters(none.integrityCheckValue(), none.nonce(),
                        offset(inInfo), offset(outInfo));
    }

    private static int offset(BufferPart part) {
        return part.isEmpty()
                ? EncodedOffset.UNUSED
                : EncodedOffset.encode(part.offset(), VERSION);
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

    /** Returns the CDB to send, with a new nonce; seals data-out. */
    byte[] sealed() throws StorageException {
        byte[] bytes = cdb.bytes();
        if (seal != null) {
            seal.begin();
            long continuation = command.continuation().byteSize();
            seal.sealContinuation(dataOut.asSlice(0, continuation));
            if (!outInfo.isEmpty()) {
                seal.sealData(outInfo.slice(dataOut),
                        dataOut.asSlice(continuation, command.out().byteSize()),
                        setPart.slice(dataOut), getPart.slice(dataOut));
            }
            seal.seal(bytes);
        }
        return bytes;
    }

    /** Checks that the response to a command that has succeeded is authentic, as far as the method says. */
    void verify(ScsiResult result, String what) throws MediumException {
        if (seal == null) {
            return;
        }
        if (result.sense().isPresent()) {
            seal.checkSense(result, what);
        }
        if (!inInfo.isEmpty()) {
            sealedBytes = OptionalLong.of(seal.checkData(inInfo.slice(dataIn),
                    dataIn.asSlice(0, command.in().byteSize()), retrieved.slice(dataIn), what)
                    .lengths().get(0));
        }
        if (asksResponse && result.sense().isEmpty()) {
            seal.checkGood(responseValue(), what);
        }
    }

    /** Checks that a refusal of a command that was admitted is authentic, as far as the method says. */
    void verifyRefusal(ScsiResult result, String what) throws MediumException {
        if (seal != null) {
            seal.checkSense(result, what);
        }
    }

    private Bytes responseValue() {
        try {
            List<Attribute> got = RetrievedAttributesList.decode(retrieved.slice(dataIn), VERSION)
                    .attributes();
            return got.isEmpty() || !got.getFirst().id()
                    .equals(CurrentCommandAttribute.RESPONSE_INTEGRITY_CHECK_VALUE.id())
                            ? Bytes.EMPTY
                            : got.getFirst().value();
        } catch (MalformedDataException _) {
            return Bytes.EMPTY;
        }
    }

    /** Prepares for another attempt after the device has denied access; returns whether it may succeed. */
    boolean renew(Sense sense) throws IOException {
        return seal != null && seal.renew(sense);
    }

    /** The most bytes of the command's own data that a result has. */
    long receivedBytes(ScsiResult result) {
        if (sealedBytes.isPresent()) {
            return sealedBytes.getAsLong();
        }
        return retrieved.isEmpty()
                ? Math.min(wantedBytes(), result.dataInBytes())
                : wantedBytes();
    }

    MemorySegment dataIn() { return dataIn; }

    MemorySegment dataOut() { return dataOut; }

    /** Allocation length of retrieved attributes. */
    int roomBytes() {
        return command.options().gets().isEmpty()
                ? 0
                : (int) retrieved.length() - (asksResponse ? RESPONSE_ROOM : 0);
    }

    /** Bytes that the command itself asks for. */
    long wantedBytes() {
        return command.in().byteSize();
    }

    /** Copies the data into the caller's buffer, where they were received elsewhere. */
    void deliver() {
        if (dataIn.byteSize() != command.in().byteSize()) {
            MemorySegment.copy(dataIn, 0, command.in(), 0, command.in().byteSize());
        }
    }

    /** The attributes of several objects, where the device returns such a list. */
    Optional<List<ObjectAttributes>> objects() throws MalformedDataException {
        MemorySegment list = retrieved.slice(dataIn);
        return (list.get(ValueLayout.JAVA_BYTE, 0) & TYPE_MASK) == OF_OBJECTS
                ? Optional.of(MultiObjectAttributesList.decode(list).objects())
                : Optional.empty();
    }

    /** The attributes that were retrieved. */
    List<Attribute> attributes() throws MalformedDataException {
        if (retrieved.isEmpty()) {
            return List.of();
        }
        List<Attribute> all = RetrievedAttributesList.decode(
                retrieved.slice(dataIn), VERSION).attributes();
        return asksResponse && !all.isEmpty() ? all.subList(1, all.size()) : all;
    }
}
