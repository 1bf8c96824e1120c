package lunar.bench.osd;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.data.ObjectList;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;

/** A session that sends commands to a device as they are, one at a time. For one thread. */
public final class OsdClient implements AutoCloseable {
    private static final OsdVersion VERSION = OsdVersion.OSD_2;
    private static final long PARTITION = ObjectId.FIRST;
    private static final byte[] TEST_UNIT_READY = new byte[6];
    private static final AttributeId ATTRIBUTE = new AttributeId(0x1_0000, 1);
    private static final int RETRIEVED_BYTES = 32;
    private static final int ATTENTIONS = 10;

    private final Session session;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment retrieved = arena.allocate(RETRIEVED_BYTES);
    private final MemorySegment setList;
    private final MemorySegment getList;
    private final CommonFields setting;
    private final CommonFields getting;

    private OsdClient(Session session) {
        this.session = session;
        byte[] set = new SetAttributesList(List.of(
                new Attribute(ATTRIBUTE, Bytes.of(new byte[]{1, 2, 3, 4, 5, 6, 7, 8}))))
                .bytes(VERSION);
        byte[] get = new GetAttributesList(List.of(ATTRIBUTE)).bytes(VERSION);
        setList = MemorySegment.ofArray(set);
        getList = MemorySegment.ofArray(get);
        setting = CommonFields.of(VERSION).withAttributes(
                ListParameters.set(new BufferPart(0, set.length)));
        getting = CommonFields.of(VERSION).withAttributes(ListParameters.get(
                new BufferPart(0, get.length), new BufferPart(0, RETRIEVED_BYTES)));
    }

    /** Logs in to a device. */
    public static OsdClient open(Initiator initiator, String uri) throws IOException {
        var client = new OsdClient(initiator.login(uri));
        for (int i = 0; i < ATTENTIONS; i++) { // until all unit attentions are reported
            if (client.session.execute(Lun.ZERO, TEST_UNIT_READY, MemorySegment.NULL,
                    MemorySegment.NULL).isGood()) {
                return client;
            }
        }
        client.close();
        throw new IOException(uri + " is not ready");
    }

    private static ObjectId object(long number) {
        return new ObjectId(PARTITION, ObjectId.FIRST + number);
    }

    private ScsiResult send(OsdCdb cdb, MemorySegment in, MemorySegment out)
            throws IOException {
        return session.execute(Lun.ZERO, cdb.bytes(), in, out)
                .orThrow(cdb.action() + " " + cdb.object());
    }

    private void send(OsdCdb cdb) throws IOException {
        send(cdb, MemorySegment.NULL, MemorySegment.NULL);
    }

    /** Empties the device and creates the partition. */
    void format() throws IOException {
        send(new FormatOsdCommand(CommonFields.of(VERSION), 0, 0));
        send(new CreatePartitionCommand(CommonFields.of(VERSION), PARTITION, 0));
    }

    /** Executes a command of Table 1 on an object. */
    void execute(OsdCommand command, long number) throws IOException {
        switch (command) {
            case PING -> session.execute(Lun.ZERO, TEST_UNIT_READY, MemorySegment.NULL,
                    MemorySegment.NULL).orThrow("TEST UNIT READY");
            case CREATE -> send(new CreateCommand(CommonFields.of(VERSION), object(number), 1, 0));
            case REMOVE -> send(new RemoveCommand(ServiceAction.REMOVE, CommonFields.of(VERSION),
                    object(number), false, 0));
            case GETATTR -> send(attributes(ServiceAction.GET_ATTRIBUTES, getting, number),
                    retrieved, getList);
            case SETATTR -> send(attributes(ServiceAction.SET_ATTRIBUTES, setting, number),
                    MemorySegment.NULL, setList);
        }
    }

    private static OsdCdb attributes(ServiceAction action, CommonFields common, long number) {
        return new AttributesCommand(action, common, object(number), false, 0);
    }

    /** Creates an object, whose identifier the device chooses. */
    public void create() throws IOException {
        send(new CreateCommand(CommonFields.of(VERSION), new ObjectId(PARTITION, 0), 1, 0));
    }

    /** Returns identifiers of objects, from the smallest that is not below another; as many as fit. */
    public List<Long> list(long from, MemorySegment into) throws IOException {
        send(new ListCommand(ServiceAction.LIST, CommonFields.of(VERSION),
                ObjectId.ofPartition(PARTITION), into.byteSize(), from, 0, false), into,
                MemorySegment.NULL);
        return ObjectList.decode(into, VERSION, ServiceAction.LIST).ids();
    }

    void read(long number, long offset, MemorySegment into) throws IOException {
        send(range(ServiceAction.READ, number, offset, into), into, MemorySegment.NULL);
    }

    void write(long number, long offset, MemorySegment from) throws IOException {
        send(range(ServiceAction.WRITE, number, offset, from), MemorySegment.NULL, from);
    }

    private static OsdCdb range(ServiceAction action, long number, long offset,
            MemorySegment data) {
        return new ByteRangeCommand(action, CommonFields.of(VERSION), object(number),
                data.byteSize(), offset, 0);
    }

    /** Returns memory for data, which the client frees when it is closed. */
    public MemorySegment memory(int bytes) {
        return arena.allocate(bytes, 4096);
    }

    @Override
    public void close() {
        session.close();
        arena.close();
    }
}
