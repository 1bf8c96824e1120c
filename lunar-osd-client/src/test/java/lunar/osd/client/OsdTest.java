package lunar.osd.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.NotSupportedException;
import lunar.initiator.ScsiResult;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.data.ListHeader;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.data.ObjectAttributesList;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.vpd.StandardInquiry;
import org.junit.jupiter.api.Test;

/** The device, partitions and lists, against a unit that answers by CDB. */
class OsdTest {
    private static final ScsiResult RESET = ScriptedUnit
            .check(Sense.of(SenseKey.UNIT_ATTENTION, new AdditionalSense(0x29, 0x00)));

    private final ScriptedUnit unit = new ScriptedUnit();

    private static Attribute number(CurrentCommandAttribute attribute, long value) {
        byte[] bytes = new byte[8];
        lunar.scsi.wire.BigEndian.int64(MemorySegment.ofArray(bytes), 0, value);
        return new Attribute(attribute.id(), Bytes.of(bytes));
    }

    // --- opening ---

    @Test
    void shouldOpenAUnitThatFirstReportsItsReset() throws Exception {
        unit.atFirst(RESET).atFirst(RESET);

        assertThat(unit.open().toString()).isEqualTo("scripted/0");
    }

    @Test
    void shouldRefuseADisk() {
        unit.ofType(StandardInquiry.DISK);

        assertThatThrownBy(unit::open).isInstanceOf(NotSupportedException.class)
                .hasMessageContaining("scripted/0 is no object store: it has device type 0h");
    }

    @Test
    void shouldTellWhatTheDeviceIs() throws Exception {
        unit.on(ServiceAction.GET_ATTRIBUTES, command -> command.retrieved(
                command.gets().ids().stream().map(id -> {
                    if (id.equals(RootAttribute.OSD_NAME.id())) {
                        return new Attribute(id, Bytes.of("store\0".getBytes()));
                    }
                    return id.equals(RootAttribute.TOTAL_CAPACITY.id())
                            ? new Attribute(id, Bytes.ofHex("0000000040000000"))
                            : Attribute.unset(id);
                }).toArray(Attribute[]::new)));

        OsdInfo info = unit.open().info();

        assertThat(info.version()).isEqualTo("OSD-2");
        assertThat(info.name()).isEqualTo("store");
        assertThat(info.totalBytes()).isEqualTo(1L << 30);
        assertThat(info.usedBytes()).isZero();
    }

    // --- partitions ---

    @Test
    void shouldLearnTheIdentifierThatTheDeviceChose() throws Exception {
        unit.on(ServiceAction.CREATE_PARTITION, command -> command
                .retrieved(number(CurrentCommandAttribute.PARTITION_ID, 0x10007)));

        Partition partition = unit.open().createPartition();

        assertThat(partition.id()).isEqualTo(ObjectId.ofPartition(0x10007));
        assertThat(unit.received().getFirst().cdb().object()).isEqualTo(ObjectId.ROOT);
        assertThat(unit.received().getFirst().gets().ids())
                .containsExactly(CurrentCommandAttribute.PARTITION_ID.id());
    }

    @Test
    void shouldRefuseADeviceThatDoesNotTellTheIdentifier() throws Exception {
        unit.on(ServiceAction.CREATE_PARTITION, command -> command
                .retrieved(Attribute.unset(CurrentCommandAttribute.PARTITION_ID.id())));
        Osd osd = unit.open();

        assertThatThrownBy(osd::createPartition).isInstanceOf(MediumException.class)
                .hasMessageContaining("without telling its identifier");
    }

    @Test
    void shouldRefuseIdentifiersThatNoObjectCanHave() throws Exception {
        Osd osd = unit.open();

        assertThatThrownBy(() -> osd.createPartition(0xffff))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("10000h");
        assertThat(unit.received()).isEmpty();
    }

    @Test
    void shouldSendACreateAgainAfterAUnitAttentionOnly() throws Exception {
        unit.on(ServiceAction.CREATE, _ -> unit.received().size() == 1
                ? RESET
                : ScriptedUnit.good(0));
        unit.open().partition(0x10000).create(0x10001);
        assertThat(unit.actions()).containsExactly(ServiceAction.CREATE, ServiceAction.CREATE);
        unit.received().clear();

        unit.on(ServiceAction.CREATE, _ -> {
            throw new DeviceGoneException("the session is lost", null);
        });
        Partition partition = unit.open().partition(0x10000);
        assertThatThrownBy(() -> partition.create(0x10001))
                .isInstanceOf(DeviceGoneException.class);
        assertThat(unit.actions()).containsExactly(ServiceAction.CREATE);
    }

    @Test
    void shouldCreateManyObjectsAtOnce() throws Exception {
        unit.on(ServiceAction.CREATE, command -> command
                .retrieved(number(CurrentCommandAttribute.OBJECT_ID, 0x10004)));

        List<UserObject> objects = unit.open().partition(0x20000).createMany(3,
                RequestOptions.NONE);

        assertThat(objects).extracting(each -> each.id().object()).containsExactly(0x10002L,
                0x10003L, 0x10004L);
    }

    @Test
    void shouldTakeTheIdentifiersOfAListOfObjects() throws Exception {
        unit.on(ServiceAction.CREATE, command -> {
            var list = new MultiObjectAttributesList(LongStream.of(0x10003, 0x10007)
                    .mapToObj(id -> new ObjectAttributes(id, ObjectType.USER_OBJECT,
                            List.of(number(CurrentCommandAttribute.OBJECT_ID, id))))
                    .toList());
            int _ = list.encode(command.in(), command.in().byteSize());
            return ScriptedUnit.good((int) command.in().byteSize());
        });
        Partition partition = unit.open().partition(0x20000);

        assertThat(partition.createMany(2, RequestOptions.NONE))
                .containsExactly(partition.object(0x10003), partition.object(0x10007));
        assertThatThrownBy(() -> partition.createMany(3, RequestOptions.NONE))
                .isInstanceOf(MediumException.class).hasMessageContaining("2 of 3 identifiers");
    }

    // --- lists ---

    private static ScsiResult list(ScriptedUnit.Received command, long total, long continuation,
            long... ids) {
        var list = new ObjectList(new ListHeader(OsdVersion.OSD_2, ListHeader.COUNTED + 8 * total,
                continuation, 7, ObjectType.USER_OBJECT, false, false),
                LongStream.of(ids).boxed().toList());
        MemorySegment bytes = MemorySegment.ofArray(list.bytes());
        command.in().copyFrom(bytes);
        return ScriptedUnit.good((int) bytes.byteSize());
    }

    @Test
    void shouldContinueListsOnDemand() throws Exception {
        unit.on(ServiceAction.LIST, command -> unit.received().size() == 1
                ? list(command, 4, 0x10003, 0x10000, 0x10002)
                : list(command, 4, 0, 0x10003, 0x10005));

        try (Stream<UserObject> objects = unit.open().partition(0x20000).objects()) {
            assertThat(unit.actions()).hasSize(1);
            assertThat(objects).extracting(each -> each.id().object()).containsExactly(0x10000L,
                    0x10002L, 0x10003L, 0x10005L);
        }
        var second = (ListCommand) unit.received().get(1).cdb();
        assertThat(second.initialId()).isEqualTo(0x10003);
        assertThat(second.listIdentifier()).isEqualTo(7);
        assertThat(second.object()).isEqualTo(ObjectId.ofPartition(0x20000));
    }

    @Test
    void shouldContinueATruncatedListWithoutContinuation() throws Exception {
        long[] first = LongStream.range(0x10000, 0x10000 + 8189).toArray(); // all that fits
        unit.on(ServiceAction.LIST, command -> unit.received().size() == 1
                ? list(command, 8190, 0, first)
                : list(command, 1, 0, 0x20000));

        try (Stream<Partition> partitions = unit.open().partitions()) {
            assertThat(partitions).hasSize(8190);
        }
        assertThat(((ListCommand) unit.received().get(1).cdb()).initialId())
                .isEqualTo(0x10000 + 8189);
    }

    @Test
    void shouldEndAListThatDoesNotAdvance() throws Exception {
        unit.on(ServiceAction.LIST, command -> list(command, 9, 0x10000, 0x10000));

        try (Stream<Partition> partitions = unit.open().partitions()) {
            assertThatThrownBy(partitions::toList).isInstanceOf(UncheckedIOException.class)
                    .cause().isInstanceOf(MediumException.class)
                    .hasMessageContaining("the list goes on with 10000h, after 10000h");
        }
    }

    @Test
    void shouldReportAListThatIsNone() throws Exception {
        unit.on(ServiceAction.LIST, _ -> ScriptedUnit.good(10));
        Osd osd = unit.open();

        assertThatThrownBy(osd::partitions).isInstanceOf(IOException.class)
                .hasMessageContaining("invalid response");
    }

    @Test
    void shouldListWithAttributes() throws Exception {
        AttributeId name = PartitionAttribute.USERNAME.id();
        unit.on(ServiceAction.LIST, command -> {
            var reply = new ObjectAttributesList(new ListHeader(OsdVersion.OSD_2,
                    ListHeader.COUNTED + 40, 0, 0, ObjectType.PARTITION, true, false),
                    List.of(new ObjectAttributes(0x10005, ObjectType.PARTITION,
                            List.of(new Attribute(name, Bytes.of((byte) 'p'))))));
            command.in().copyFrom(MemorySegment.ofArray(reply.bytes()));
            return ScriptedUnit.good(reply.bytes().length);
        });

        try (Stream<Reply<Partition>> partitions = unit.open().partitions(0x10002, name)) {
            assertThat(partitions).singleElement().satisfies(each -> {
                assertThat(each.value()).hasToString("10005h/0h");
                assertThat(each.attribute(name)).contains(Bytes.of((byte) 'p'));
            });
        }
        var sent = unit.received().getFirst();
        assertThat(((ListCommand) sent.cdb()).withAttributes()).isTrue();
        assertThat(((ListCommand) sent.cdb()).initialId()).isEqualTo(0x10002);
        assertThat(sent.gets().ids()).containsExactly(name);
        assertThat(sent.lists().retrieved().isEmpty()).isTrue();
    }
}
