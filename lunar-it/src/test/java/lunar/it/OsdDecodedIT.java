package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.OsdSpec;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.RemoveCommand;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Has an independent decoder, Wireshark's, decode what both ends of an object-based storage device send. */
class OsdDecodedIT {
    private static final long PARTITION = 0x2_0000;
    private static final ObjectId HOME = ObjectId.ofPartition(PARTITION);
    private static final ObjectId OBJECT = new ObjectId(PARTITION, 0x1_1111);
    private static final ObjectId SECOND = new ObjectId(PARTITION, 0x1_2222);
    private static final ObjectId COLLECTION = new ObjectId(PARTITION, 0x1_3333);
    private static final AttributeId LENGTH = new AttributeId(1, 0x82);
    private static final AttributeId OWN = new AttributeId(0x1_0000, 1);
    private static final int RETRIEVED_BYTES = 512;
    private static final byte[] INQUIRY = {0x12, 0, 0, 0, 96, 0};
    private static final byte[] TEST_UNIT_READY = new byte[6];

    private final OsdVersion[] versions = OsdVersion.values();

    @BeforeAll
    static void assume() { Peer.assume("tshark"); }

    @Test
    void shouldSendWhatAnIndependentDecoderUnderstands(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("osd.pcap");
        var sent = new ArrayList<ServiceAction>();
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:decoded");
                var store = ObjectStores.inMemory();
                var target = ServedTarget.of(spec -> spec.withLun(0, OsdSpec.of(store)));
                var proxy = new CapturingProxy(target.server().portals().getFirst().getPort(),
                        file)) {
            try (var session = initiator.login(SessionOptions.of("127.0.0.1", proxy.port(),
                    ServedTarget.NAME))) {
                begin(session);
                for (OsdVersion version : versions) {
                    for (OsdCommandLine each : commands(version)) {
                        ScsiResult result = send(session, each);
                        assertThat(result.status()).as(each.cdb().action() + " in " + version)
                                .isEqualTo(each.fails() ? 2 : 0);
                        sent.add(each.cdb().action());
                    }
                }
            }
        }
        assertThat(decode(file, "_ws.malformed or _ws.unreassembled", "frame.number")).isEmpty();
        var names = new TreeSet<>(decode(file, "scsi_osd.svcaction", "scsi_osd.svcaction"));
        for (OsdVersion version : versions) {
            for (ServiceAction action : new TreeSet<>(sent)) {
                assertThat(names).as(action + " in " + version)
                        .contains(String.format("0x%04x", action.code(version)));
            }
        }
        assertThat(decode(file, "iscsi.opcode == 1 and scsi_osd.svcaction", "frame.number"))
                .as("commands").hasSameSizeAs(sent);
        assertThat(decode(file, "scsi_osd.user_object.logical_length == 5000", "frame.number"))
                .as("attributes retrieved").isNotEmpty();
        assertThat(decode(file, "scsi.sns.key == 5", "scsi.sns.ascascq"))
                .as("sense of missing objects").containsExactly("0x2400", "0x2400");
    }

    /** A command with its data. */
    private record OsdCommandLine(OsdCdb cdb, byte[] out, int in, boolean fails) {
        static OsdCommandLine of(OsdCdb cdb) {
            return new OsdCommandLine(cdb, new byte[0], 0, false);
        }

        static OsdCommandLine in(OsdCdb cdb, int bytes) {
            return new OsdCommandLine(cdb, new byte[0], bytes, false);
        }
    }

    private static void begin(Session session) throws IOException {
        byte[] inquiry = new byte[96];
        ScsiResult ready;
        do { // the decoder needs the device type; until all unit attentions are reported
            session.execute(Lun.ZERO, INQUIRY, MemorySegment.ofArray(inquiry),
                    MemorySegment.NULL);
            ready = session.execute(Lun.ZERO, TEST_UNIT_READY, MemorySegment.NULL,
                    MemorySegment.NULL);
        } while (!ready.isGood());
        assertThat(inquiry[0]).isEqualTo((byte) 0x11);
    }

    private static ScsiResult send(Session session, OsdCommandLine line) throws IOException {
        return session.execute(Lun.ZERO, line.cdb().bytes(),
                MemorySegment.ofArray(new byte[line.in()]), MemorySegment.ofArray(line.out()));
    }

    private static List<OsdCommandLine> commands(OsdVersion version) {
        CommonFields plain = CommonFields.of(version);
        byte[] data = new byte[5120]; // attributes follow at a multiple of 256
        Arrays.fill(data, (byte) 0x5a);
        var lines = new ArrayList<OsdCommandLine>();
        lines.add(OsdCommandLine.of(new FormatOsdCommand(plain, 0, 0)));
        lines.add(OsdCommandLine.of(new CreatePartitionCommand(plain, PARTITION, 0)));
        lines.add(OsdCommandLine.of(new CreateCommand(plain, OBJECT, 1, 0)));
        lines.add(withAttributes(version, new byte[0], 0,
                List.of(new Attribute(OWN, Bytes.of(new byte[]{1, 2, 3}))), List.of(),
                common -> new CreateCommand(common, SECOND, 1, 0)));
        lines.add(OsdCommandLine.of(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION,
                plain, COLLECTION, 0, false, 0)));
        lines.add(new OsdCommandLine(range(ServiceAction.WRITE, plain, 5000, 0),
                Arrays.copyOf(data, 5000), 0, false));
        lines.add(withAttributes(version, data, 0, List.of(), List.of(LENGTH),
                common -> range(ServiceAction.WRITE, common, 5000, 0)));
        lines.add(OsdCommandLine.in(range(ServiceAction.READ, plain, 5000, 0), 5000));
        lines.add(new OsdCommandLine(new ByteRangeCommand(ServiceAction.APPEND, plain, SECOND,
                100, 0, 0), new byte[100], 0, false));
        lines.add(withAttributes(version, new byte[0], 0, List.of(), List.of(LENGTH, OWN),
                common -> attributes(ServiceAction.GET_ATTRIBUTES, common)));
        lines.add(withAttributes(version, new byte[0], 0,
                List.of(new Attribute(OWN, Bytes.of(new byte[]{9}))), List.of(OWN),
                common -> attributes(ServiceAction.SET_ATTRIBUTES, common)));
        lines.add(OsdCommandLine.in(attributes(ServiceAction.GET_ATTRIBUTES, plain.withAttributes(
                PageParameters.get(3, new BufferPart(0, RETRIEVED_BYTES)))), RETRIEVED_BYTES));
        lines.add(OsdCommandLine.in(new ListCommand(ServiceAction.LIST, plain, HOME, 1024, 0, 0,
                false), 1024));
        lines.add(OsdCommandLine.in(new ListCommand(ServiceAction.LIST, plain, ObjectId.ROOT,
                1024, 0, 0, false), 1024));
        lines.add(OsdCommandLine.in(new ListCommand(ServiceAction.LIST_COLLECTION, plain, HOME,
                1024, 0, 0, false), 1024));
        lines.add(OsdCommandLine.of(new FlushCommand(ServiceAction.FLUSH, plain, OBJECT,
                FlushScope.DATA_AND_ATTRIBUTES, 0, 0, 0)));
        lines.add(OsdCommandLine.of(new FlushCommand(ServiceAction.FLUSH_OSD, plain,
                ObjectId.ROOT, FlushScope.ALL, 0, 0, 0)));
        lines.add(OsdCommandLine.of(new RemoveCommand(ServiceAction.REMOVE, plain, OBJECT, false,
                0)));
        lines.add(new OsdCommandLine(range(ServiceAction.READ, plain, 10, 0), new byte[0], 10,
                true));
        lines.add(OsdCommandLine.of(new RemoveCommand(ServiceAction.REMOVE, plain, SECOND, false,
                0)));
        lines.add(OsdCommandLine.of(new RemoveCommand(ServiceAction.REMOVE_COLLECTION, plain,
                COLLECTION, false, 0)));
        lines.add(OsdCommandLine.of(new RemoveCommand(ServiceAction.REMOVE_PARTITION, plain, HOME,
                false, 0)));
        return lines;
    }

    private static OsdCdb range(ServiceAction action, CommonFields common, long count,
            long start) {
        return new ByteRangeCommand(action, common, OBJECT, count, start, 0);
    }

    private static OsdCdb attributes(ServiceAction action, CommonFields common) {
        return new AttributesCommand(action, common, OBJECT, false, 0);
    }

    /** Makes a command. */
    private interface Maker {
        OsdCdb with(CommonFields common);
    }

    /** Adds lists of attributes behind the data of a command, at multiples of 256 bytes. */
    private static OsdCommandLine withAttributes(OsdVersion version, byte[] data, int dataIn,
            List<Attribute> set, List<AttributeId> get, Maker maker) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(data);
        BufferPart setList = set.isEmpty()
                ? BufferPart.NONE
                : add(out, new SetAttributesList(set).bytes(version));
        BufferPart getList = get.isEmpty()
                ? BufferPart.NONE
                : add(out, new GetAttributesList(get).bytes(version));
        BufferPart retrieved = get.isEmpty()
                ? BufferPart.NONE
                : new BufferPart(dataIn, RETRIEVED_BYTES);
        return new OsdCommandLine(
                maker.with(CommonFields.of(version)
                        .withAttributes(new ListParameters(getList, retrieved, setList))),
                out.toByteArray(), get.isEmpty() ? dataIn : dataIn + RETRIEVED_BYTES, false);
    }

    private static BufferPart add(ByteArrayOutputStream out, byte[] list) {
        out.writeBytes(new byte[-out.size() & 0xff]);
        var part = new BufferPart(out.size(), list.length);
        out.writeBytes(list);
        return part;
    }

    /** Returns a field of the packets that a display filter selects. */
    private static List<String> decode(Path file, String filter, String field)
            throws IOException, InterruptedException {
        Peer.Result result = Peer.run(Duration.ofMinutes(5), "tshark", "-r", file.toString(), "-d",
                "tcp.port==" + CapturingProxy.CAPTURED_PORT + ",iscsi", "-Y", filter, "-T",
                "fields", "-e", field);
        return result.succeeded().lines().stream().filter(line -> !line.startsWith("Running as"))
                .flatMap(line -> Arrays.stream(line.split(",", -1))).toList();
    }
}
