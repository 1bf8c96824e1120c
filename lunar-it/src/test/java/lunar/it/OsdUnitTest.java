package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.spi.Transports;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.OsdSpec;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.sense.ObjectIdentification;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.target.PortalSpec;
import lunar.testkit.Seed;
import lunar.testkit.pipe.PlacingPipeTransportProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests an object-based storage device beside a disk over iSCSI, and over a transport that moves data itself. */
class OsdUnitTest {
    private static final Lun LUN = Lun.of(1);
    private static final String PLACING = PlacingPipeTransportProvider.SCHEME;
    private static final ObjectId OBJECT = new ObjectId(0x1_0000, 0x1_0000);
    /** Attributes of the root that Linux asks for before anything else. */
    private static final int[] PROBED = {4, 5, 6, 7, 8, 9, 0x80, 0x81, 0xc0, 0x100, 3};
    private static final MemorySegment NOTHING = MemorySegment.NULL;

    private ObjectStore store;
    private ServedTarget target;
    private Initiator initiator;

    @BeforeEach
    void serve() throws IOException {
        store = ObjectStores.inMemory();
        target = ServedTarget.of(spec -> spec.withLun(1, OsdSpec.of(store)),
                server -> server.portal(PortalSpec
                        .of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .withTransport(PLACING)),
                "ram:1MiB");
        initiator = Initiator.create("iqn.2026-11.org.lunar:osd-client");
    }

    @AfterEach
    void close() throws IOException {
        initiator.close();
        target.close();
        store.close();
    }

    private Session login(String transport) throws IOException {
        int portal = transport.equals(PLACING) ? 1 : 0;
        return initiator.login(SessionOptions
                .of("127.0.0.1", target.server().portals().get(portal).getPort(),
                        ServedTarget.NAME)
                .withTransport(transport));
    }

    private static ScsiResult run(Session session, Cdb cdb, MemorySegment in, MemorySegment out)
            throws IOException {
        byte[] bytes = new byte[cdb.length()];
        cdb.encode(MemorySegment.ofArray(bytes));
        return session.execute(LUN, bytes, in, out);
    }

    /** Reports unit attentions until there are none, like TEST UNIT READY of Linux. */
    private static void testUnitReady(Session session) throws IOException {
        ScsiResult result;
        do {
            result = session.execute(LUN, new byte[6], NOTHING, NOTHING);
            assertThat(result.senseData().length() == 0
                    || result.senseData().at(0) == 0x72).as("descriptor format").isTrue();
        } while (!result.isGood());
    }

    private static void createObject(Session session) throws IOException {
        testUnitReady(session);
        CommonFields common = CommonFields.of(OsdVersion.OSD_2);
        assertThat(run(session, new CreatePartitionCommand(common, OBJECT.partition(), 0),
                NOTHING, NOTHING).isGood()).isTrue();
        assertThat(run(session, new CreateCommand(common, OBJECT, 0, 0), NOTHING, NOTHING)
                .isGood()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerProbeOfLinux(OsdVersion version) throws Exception {
        var ids = Arrays.stream(PROBED).mapToObj(number -> new AttributeId(0x9000_0001, number))
                .toList();
        byte[] list = new GetAttributesList(ids).bytes(version);
        var in = MemorySegment.ofArray(new byte[0x1b0]);
        var probe = new AttributesCommand(ServiceAction.GET_ATTRIBUTES,
                CommonFields.of(version).withAttributes(ListParameters.get(
                        new BufferPart(0, list.length), new BufferPart(0, in.byteSize()))),
                ObjectId.ROOT, false, 0);
        try (var session = login(Transports.ISCSI)) {
            testUnitReady(session);
            ScsiResult result = run(session, probe, in, MemorySegment.ofArray(list));
            assertThat(result.isGood()).isTrue();
            var found = RetrievedAttributesList.decode(in.asSlice(0, result.dataInBytes()),
                    version).attributes();
            assertThat(found).extracting(each -> each.id()).isEqualTo(ids);
            assertThat(found.getFirst().id()).isEqualTo(RootAttribute.VENDOR.id());
            assertThat(new String(found.getFirst().value().toArray(),
                    StandardCharsets.US_ASCII)).isEqualTo("LUNAR   ");
            assertThat(found.getLast().value().length()).as("system identifier").isEqualTo(20);
            assertThat(result.bidirectionalReadResidual())
                    .isEqualTo(Residual.of((int) in.byteSize(), result.dataInBytes()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {Transports.ISCSI, PLACING})
    void shouldMoveDataWithAttributes(String transport) throws Exception {
        byte[] data = new byte[700_000];
        new Random(Seed.next()).nextBytes(data);
        byte[] list = new GetAttributesList(List.of(UserObjectAttribute.LOGICAL_LENGTH.id()))
                .bytes(OsdVersion.OSD_2);
        byte[] out = Arrays.copyOf(data, data.length + list.length);
        System.arraycopy(list, 0, out, data.length, list.length);
        var attributes = ListParameters.get(new BufferPart(data.length, list.length),
                new BufferPart(0, 100));
        var in = MemorySegment.ofArray(new byte[data.length]);
        try (var session = login(transport)) {
            createObject(session);
            ScsiResult written = run(session, new ByteRangeCommand(ServiceAction.WRITE,
                    CommonFields.of(OsdVersion.OSD_2).withAttributes(attributes), OBJECT,
                    data.length, 0, 0), in.asSlice(0, 100), MemorySegment.ofArray(out));
            assertThat(written.isGood()).isTrue();
            assertThat(HexFormat.of().formatHex(in.asSlice(0, written.dataInBytes())
                    .toArray(ValueLayout.JAVA_BYTE)))
                    .endsWith(String.format("0008%016x", data.length));
            assertThat(run(session, new ByteRangeCommand(ServiceAction.READ,
                    CommonFields.of(OsdVersion.OSD_2), OBJECT, data.length, 0, 0), in, NOTHING)
                    .isGood()).isTrue();
            assertThat(in.mismatch(MemorySegment.ofArray(data))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {Transports.ISCSI, PLACING})
    void shouldReturnDataOfReadPastEndWithItsSense(String transport) throws Exception {
        byte[] data = new byte[5000];
        new Random(Seed.next()).nextBytes(data);
        var in = MemorySegment.ofArray(new byte[8192]);
        CommonFields common = CommonFields.of(OsdVersion.OSD_2);
        try (var session = login(transport)) {
            createObject(session);
            assertThat(run(session, new ByteRangeCommand(ServiceAction.WRITE, common, OBJECT,
                    data.length, 0, 0), NOTHING, MemorySegment.ofArray(data)).isGood()).isTrue();
            ScsiResult result = run(session, new ByteRangeCommand(ServiceAction.READ, common,
                    OBJECT, in.byteSize(), 0, 0), in, NOTHING);
            assertThat(result.status()).isEqualTo(Status.CHECK_CONDITION.code());
            assertThat(result.dataInBytes()).isEqualTo(data.length);
            assertThat(result.residual()).isEqualTo(Residual.of(8192, data.length));
            assertThat(in.asSlice(0, data.length).mismatch(MemorySegment.ofArray(data)))
                    .isEqualTo(-1);
            Sense sense = result.sense().orElseThrow();
            assertThat(sense.additional())
                    .isEqualTo(AdditionalSense.READ_PAST_END_OF_USER_OBJECT);
            assertThat(sense.commandSpecific()).isEqualTo(OptionalLong.of(data.length));
            assertThat(ObjectIdentification.of(sense).orElseThrow().object()).isEqualTo(OBJECT);
        }
    }

    @Test
    void shouldServeDiskBesideObjects() throws Exception {
        try (var session = login(Transports.ISCSI); var disk = session.open(Lun.ZERO)) {
            createObject(session);
            var block = MemorySegment.ofArray(new byte[disk.blockSize()]);
            disk.write(1, block);
            disk.read(1, block);
            assertThat(session.luns()).containsExactly(Lun.ZERO, LUN);
        }
    }
}
