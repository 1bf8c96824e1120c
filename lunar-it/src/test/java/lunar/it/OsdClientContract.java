package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.osd.client.CollectionObject;
import lunar.osd.client.NoSuchObjectException;
import lunar.osd.client.NotEmptyException;
import lunar.osd.client.ObjectExistsException;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdOptions;
import lunar.osd.client.Partition;
import lunar.osd.client.QuotaExceededException;
import lunar.osd.client.Reply;
import lunar.osd.client.RequestOptions;
import lunar.osd.client.UserObject;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.OsdSpec;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.data.MapType;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The client against the device, over a transport, with initiator and target in this process. */
abstract class OsdClientContract {
    private static final String TARGET = "iqn.2026-11.org.lunar:objects";
    private static final AttributeId KIND = new AttributeId(0x1_0000, 1);
    private static final AttributeId TEXT = new AttributeId(0x1_0000, 2);
    /** More than fit into one answer. */
    private static final int MANY = 9_000;

    private final String scheme;
    private final ObjectStore store = ObjectStores.inMemory();
    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:osd-client");
    private TargetServer server;
    private Session session;
    private Osd osd;

    /** @param scheme of the transport */
    OsdClientContract(String scheme) { this.scheme = scheme; }

    /** The device. */
    OsdSpec spec(ObjectStore of) { return OsdSpec.of(of); }

    /** Options of the client. */
    OsdOptions options() { return OsdOptions.DEFAULT; }

    @BeforeEach
    void connect() throws Exception {
        server = TargetServer.builder()
                .portal(PortalSpec
                        .of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .withTransport(scheme))
                .target(TargetSpec.of(TARGET).withLun(0, spec(store))).start();
        session = initiator.login(SessionOptions
                .of("127.0.0.1", server.portals().getFirst().getPort(), TARGET)
                .withTransport(scheme));
        osd = Osd.open(session, Lun.ZERO,
                options().withTransferBytes(64 << 10).withDepth(4));
    }

    @AfterEach
    void disconnect() throws Exception {
        initiator.close();
        server.close();
        store.close();
    }

    private static MemorySegment random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return MemorySegment.ofArray(bytes);
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(UserObject object) throws Exception {
        try (InputStream in = object.openInput()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    // --- data ---

    @Test
    void shouldWriteAndReadAndTellTheEnd() throws Exception {
        UserObject object = osd.createPartition().create();
        object.write(5, text("hello"));
        assertThat(object.length()).isEqualTo(10);

        MemorySegment buffer = MemorySegment.ofArray(new byte[100]);
        assertThat(object.read(5, buffer)).isEqualTo(5);
        assertThat(buffer.asSlice(0, 5).mismatch(text("hello"))).isEqualTo(-1);
        assertThat(object.read(0, buffer)).isEqualTo(10);
        assertThat(buffer.asSlice(0, 5).mismatch(MemorySegment.ofArray(new byte[5])))
                .isEqualTo(-1);
        assertThat(object.read(10, buffer)).isZero();
        assertThat(object.read(1 << 20, buffer)).isZero();
    }

    @Test
    void shouldChangeDataInPlace() throws Exception {
        UserObject object = osd.createPartition().createAndWrite(text("0123456789"));
        assertThat(object.append(text("ab"))).isEqualTo(10);
        object.clear(1, 2);
        object.punch(4, 3);
        assertThat(text(object)).isEqualTo("0\0\0003789ab");
        object.truncate(4);
        assertThat(text(object)).isEqualTo("0\0\0003");
        object.truncate(6);
        assertThat(object.length()).isEqualTo(6);
        object.flush();
        object.flush(0, 2);
        assertThat(object.map(0, MapType.ALL)).isNotEmpty();
    }

    @Test
    void shouldMoveMoreThanOneCommandCan() throws Exception {
        MemorySegment data = random(3_000_017);
        Partition partition = osd.createPartition();
        UserObject object = partition.createAndWrite(0x12345, data,
                RequestOptions.NONE.set(new Attribute(KIND, Bytes.of((byte) 1)))).value();
        MemorySegment back = MemorySegment.ofArray(new byte[3_000_017]);
        assertThat(object.read(0, back)).isEqualTo(3_000_017);
        assertThat(back.mismatch(data)).isEqualTo(-1);
        assertThat(object.get(KIND)).contains(Bytes.of((byte) 1));

        try (var arena = Arena.ofConfined()) {
            MemorySegment confined = arena.allocate(3_000_017);
            assertThat(object.read(0, confined)).isEqualTo(3_000_017);
            assertThat(confined.mismatch(data)).isEqualTo(-1);
            object.write(17, confined);
            assertThat(object.length()).isEqualTo(3_000_034);
        }
    }

    @Test
    void shouldStream() throws Exception {
        byte[] data = random(1_234_567).toArray(ValueLayout.JAVA_BYTE);
        UserObject object = osd.createPartition().createAndWrite(text("before"));
        try (OutputStream out = object.openOutput()) {
            out.write(data, 0, 1_000_000);
            out.write(data, 1_000_000, 234_567);
        }
        try (InputStream in = object.openInput()) {
            assertThat(in.readAllBytes()).isEqualTo(data);
        }
        try (InputStream in = object.openInput(100_000, 100_001)) {
            assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(data, 100_000, 200_001));
        }
    }

    // --- attributes ---

    @Test
    void shouldSetAndGetAttributesOfEveryKindOfObject() throws Exception {
        Partition partition = osd.createPartition();
        UserObject object = partition.create();
        object.set(new Attribute(KIND, Bytes.of((byte) 5)),
                new Attribute(TEXT, Bytes.of(new byte[40_000])));
        assertThat(object.get(List.of(TEXT, KIND))).containsExactly(
                new Attribute(TEXT, Bytes.of(new byte[40_000])),
                new Attribute(KIND, Bytes.of((byte) 5)));
        assertThat(object.getPage(0x1_0000)).extracting(Attribute::id).contains(KIND, TEXT);
        object.delete(TEXT);
        assertThat(object.get(TEXT)).isEmpty();
        assertThat(object.getAll()).extracting(Attribute::id).contains(KIND,
                UserObjectAttribute.LOGICAL_LENGTH.id());

        var ofPartition = new AttributeId(0x3001_0000, 1);
        partition.set(ofPartition, Bytes.of((byte) 6));
        assertThat(partition.get(ofPartition)).contains(Bytes.of((byte) 6));
        CollectionObject collection = partition.createCollection();
        collection.set(CollectionAttribute.USERNAME.id(), Bytes.of((byte) 'c'));
        assertThat(collection.get(CollectionAttribute.USERNAME)).contains(Bytes.of((byte) 'c'));
        osd.root().set(RootAttribute.OSD_NAME.id(), Bytes.of((byte) 'r'));
        assertThat(osd.info().name()).isEqualTo("r");
    }

    @Test
    void shouldSetAndGetAttributesAlongWithAnyCommand() throws Exception {
        Partition partition = osd.createPartition();
        Reply<UserObject> created = partition.create(RequestOptions.NONE
                .set(new Attribute(KIND, Bytes.of((byte) 1))).get(KIND)
                .get(UserObjectAttribute.CREATED));
        assertThat(created.attribute(KIND)).contains(Bytes.of((byte) 1));
        assertThat(created.attribute(UserObjectAttribute.CREATED)).isPresent();

        UserObject object = created.value();
        Reply<UserObject> written = object.write(0, random(100_000), RequestOptions.NONE
                .get(UserObjectAttribute.LOGICAL_LENGTH).withFua());
        assertThat(written.attribute(UserObjectAttribute.LOGICAL_LENGTH))
                .contains(Bytes.ofHex("00000000000186a0"));
        Reply<Long> read = object.read(99_000, MemorySegment.ofArray(new byte[5000]),
                RequestOptions.NONE.get(UserObjectAttribute.LOGICAL_LENGTH));
        assertThat(read.value()).isEqualTo(1000);
        assertThat(read.attribute(UserObjectAttribute.LOGICAL_LENGTH)).isPresent();
        Reply<UserObject> removed = object.remove(RequestOptions.NONE.get(KIND));
        assertThat(removed.attribute(KIND)).contains(Bytes.of((byte) 1));
    }

    // --- lists, collections, queries ---

    @Test
    void shouldListMoreThanFitIntoOneAnswer() throws Exception {
        Partition partition = osd.createPartition();
        var created = new ArrayList<UserObject>();
        while (created.size() < MANY) {
            created.addAll(partition.createMany(1000,
                    RequestOptions.NONE.set(new Attribute(KIND, Bytes.of((byte) 3)))));
        }
        try (Stream<UserObject> listed = partition.objects()) {
            assertThat(listed.toList()).isEqualTo(created);
        }
        try (Stream<Reply<UserObject>> listed = partition
                .objects(created.get(10).id().object(), KIND)) {
            assertThat(listed.toList()).hasSize(MANY - 10)
                    .allMatch(each -> each.attribute(KIND).isPresent());
        }
        partition.removeWithContents();
        try (Stream<Partition> partitions = osd.partitions()) {
            assertThat(partitions).isEmpty();
        }
    }

    @Test
    void shouldGroupObjectsInCollections() throws Exception {
        Partition partition = osd.createPartition();
        CollectionObject red = partition.createCollection();
        CollectionObject all = partition.createCollection();
        for (int i = 0; i < 10; i++) {
            UserObject object = partition.create(RequestOptions.NONE
                    .set(new Attribute(KIND, Bytes.of((byte) i)))).value();
            all.add(object);
            if (i % 2 == 0) {
                red.add(object);
                red.add(object);
                assertThat(object.collections()).containsExactlyInAnyOrder(all, red);
            }
        }
        assertThat(red.members()).hasSize(5);
        assertThat(partition.collections()).containsExactly(red, all);
        assertThat(all.query(true, new QueryList.Criterion(KIND, Bytes.of((byte) 3),
                Bytes.of((byte) 6)))).hasSize(4);

        red.remove(red.members().findFirst().orElseThrow());
        assertThat(red.members()).hasSize(4);
        assertThatThrownBy(red::remove).isInstanceOf(NotEmptyException.class);
        red.setMemberAttributes(RequestOptions.NONE
                .set(new Attribute(TEXT, Bytes.of((byte) 'x'))));
        assertThat(red.members().findAny().orElseThrow().get(TEXT)).isPresent();
        red.flush(FlushScope.ALL);
        red.removeMemberObjects();
        assertThat(partition.objects()).hasSize(6);
        red.remove();
        partition.flush();
        osd.flush();
    }

    // --- errors ---

    @Test
    void shouldTellWhatIsWrong() throws Exception {
        assertThatThrownBy(() -> osd.partition(0x77777).create())
                .isInstanceOf(NoSuchObjectException.class);
        Partition partition = osd.createPartition(0x20000);
        assertThatThrownBy(() -> osd.createPartition(0x20000))
                .isInstanceOf(ObjectExistsException.class);
        UserObject object = partition.create(0x30000);
        assertThatThrownBy(() -> partition.create(0x30000))
                .isInstanceOf(ObjectExistsException.class);
        assertThatThrownBy(() -> partition.createAndWrite(0x30000, text("x"),
                RequestOptions.NONE)).isInstanceOf(ObjectExistsException.class);
        assertThatThrownBy(partition::remove).isInstanceOf(NotEmptyException.class);
        object.remove();
        var missing = catchThrowableOfType(NoSuchObjectException.class, object::length);
        assertThat(missing.object()).isEqualTo(object.id());
        assertThatThrownBy(() -> object.read(0, random(10)))
                .isInstanceOf(NoSuchObjectException.class);
        assertThatThrownBy(() -> partition.collection(0x5_0000).members())
                .isInstanceOf(NoSuchObjectException.class);
        partition.remove();
    }

    @Test
    void shouldNameTheQuotaThatIsExceeded() throws Exception {
        UserObject object = osd.createPartition().create();
        object.set(UserObjectAttribute.MAX_LENGTH.id(), Bytes.ofHex("00000000000003e8"));
        object.write(0, random(1000));

        var exceeded = catchThrowableOfType(QuotaExceededException.class,
                () -> object.write(1000, random(1)));

        assertThat(exceeded.quotas()).containsExactly(UserObjectAttribute.MAX_LENGTH.id());
        assertThat(object.length()).isEqualTo(1000);
    }

    @Test
    void shouldFailAsBlockDevicesDoWhenTheSessionIsLost() throws Exception {
        UserObject object = osd.createPartition().create();
        server.close();

        assertThatThrownBy(() -> object.append(text("x"))).isInstanceOf(StorageException.class);
        assertThatThrownBy(() -> object.write(0, random(1_000_000)))
                .isInstanceOf(StorageException.class);
    }

    // --- the device ---

    @Test
    void shouldFormat() throws Exception {
        var _ = osd.createPartition().create();
        var _ = osd.format(0, RequestOptions.NONE
                .set(new Attribute(RootAttribute.OSD_NAME.id(), Bytes.of((byte) 'n'))));

        assertThat(osd.partitions()).isEmpty();
        assertThat(osd.info().name()).isEqualTo("n");
        assertThat(osd.info().partitionCount()).isZero();
        osd.checkStructure();
    }
}
