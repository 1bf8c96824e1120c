package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v1;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.CreatedObjectsAttributesList;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.sense.AttributeIdentification;
import lunar.osd.wire.sense.CommandFunction;
import lunar.scsi.AdditionalSense;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ObjectCommandsTest {
    private OsdFixture device;

    @BeforeEach
    void open() throws Exception { device = new OsdFixture().withObject(); }

    @AfterEach
    void close() throws Exception { device.close(); }

    private Reply create(ObjectId object, int count) {
        return device.run(new CreateCommand(v2(), object, count, 0));
    }

    private Reply createPartition(long id) {
        return device.run(new CreatePartitionCommand(v2(), id, 0));
    }

    private Reply remove(ServiceAction action, ObjectId object, boolean force) {
        return device.run(new RemoveCommand(action, v2(), object, force, 0));
    }

    @Test
    void shouldRefuseExistingAndReservedIdentifiers() {
        create(OBJECT, 1).invalidField(24, OBJECT)
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY)
                .notInitiated();
        create(new ObjectId(PARTITION, 0xffff), 1).invalidField(24,
                new ObjectId(PARTITION, 0xffff));
        create(new ObjectId(0x2_0000, 0), 1).invalidField(16, new ObjectId(0x2_0000, 0));
        create(new ObjectId(0, 0x1_0000), 1).invalidField(16, new ObjectId(0, 0x1_0000));
        createPartition(PARTITION).invalidField(16, ObjectId.ofPartition(PARTITION));
        createPartition(0xffff).invalidField(16, ObjectId.ofPartition(0xffff));
    }

    @Test
    void shouldRefuseMissingObjects() {
        var missing = new ObjectId(PARTITION, 0x9_9999);
        var nowhere = new ObjectId(0x9_9999, 0x1_0000);
        remove(ServiceAction.REMOVE, missing, false).invalidField(24, missing);
        remove(ServiceAction.REMOVE, nowhere, false).invalidField(16, nowhere);
        remove(ServiceAction.REMOVE_COLLECTION, OBJECT, false).invalidField(24, OBJECT);
        remove(ServiceAction.REMOVE_PARTITION, ObjectId.ofPartition(0x9_9999), false)
                .invalidField(16, ObjectId.ofPartition(0x9_9999));
        device.read(missing, 0, 8).invalidField(24, missing);
        device.read(nowhere, 0, 8).invalidField(16, nowhere);
        Attributes.getReply(device, missing, UserObjectAttribute.CREATED.id())
                .invalidField(24, missing);
        Attributes.set(device, nowhere).invalidField(16, nowhere);
    }

    @Test
    void shouldRemoveObjectAfterItsAttributesWereGot() {
        device.write(OBJECT, 0, new byte[100]).isGood();
        Lists lists = Attributes.lists(List.of(), List.of(
                UserObjectAttribute.LOGICAL_LENGTH.id(),
                CurrentCommandAttribute.CHANGE_IN_USED_CAPACITY.id()));
        Reply reply = device.run(new RemoveCommand(ServiceAction.REMOVE, lists.in(v2()), OBJECT,
                false, 0), lists.out(), 1000).isGood();
        assertThat(Attributes.decode(reply.data())).containsExactly(
                Attributes.number(UserObjectAttribute.LOGICAL_LENGTH.id(), 100, 8),
                Attributes.number(CurrentCommandAttribute.CHANGE_IN_USED_CAPACITY.id(), -100, 8));
        device.read(OBJECT, 0, 1).invalidField(24, OBJECT);
    }

    @Test
    void shouldRemovePartitionWithContentsByScopeAlone() {
        ObjectId partition = ObjectId.ofPartition(PARTITION);
        remove(ServiceAction.REMOVE_PARTITION, partition, false)
                .illegal(AdditionalSense.CONTAINS_USER_OBJECTS, partition);
        remove(ServiceAction.REMOVE_PARTITION, partition, true).isGood();
        createPartition(PARTITION).isGood();
        remove(ServiceAction.REMOVE_PARTITION, partition, false).isGood();
    }

    @Test
    void shouldCreateSeveralObjectsWithConsecutiveIdentifiers() throws Exception {
        var size = UserObjectAttribute.LOGICAL_LENGTH.id();
        Lists lists = Attributes.lists(List.of(Attributes.number(size, 5, 8)),
                List.of(size, CurrentCommandAttribute.OBJECT_ID.id()));
        Reply reply = device.run(new CreateCommand(lists.in(v2()),
                ObjectId.ofPartition(PARTITION), 3, 0), lists.out(), 1000).isGood();
        var objects = MultiObjectAttributesList.decode(MemorySegment.ofArray(reply.data()))
                .objects();
        assertThat(objects).extracting(each -> each.id()).containsExactly(0x1_0001L, 0x1_0002L,
                0x1_0003L);
        assertThat(objects).allSatisfy(each -> assertThat(each.attributes()).containsExactly(
                Attributes.number(size, 5, 8),
                Attributes.number(CurrentCommandAttribute.OBJECT_ID.id(), 0x1_0003, 8)));
        assertThat(device.read(new ObjectId(PARTITION, 0x1_0003), 0, 5).isGood().data())
                .isEqualTo(new byte[5]);
    }

    @Test
    void shouldReturnAttributesOfSeveralObjectsInOsd1() throws Exception {
        var id = UserObjectAttribute.USER_OBJECT_ID.id();
        Lists lists = Attributes.lists(OsdVersion.OSD_1, 0, List.of(), List.of(id), 0);
        Reply reply = device.run(new CreateCommand(lists.in(v1()),
                ObjectId.ofPartition(PARTITION), 2, 0), lists.out(), 1000).isGood();
        assertThat(CreatedObjectsAttributesList.decode(MemorySegment.ofArray(reply.data()))
                .entries()).containsExactly(
                        new CreatedObjectsAttributesList.Entry(0x1_0001,
                                Attributes.number(id, 0x1_0001, 8)),
                        new CreatedObjectsAttributesList.Entry(0x1_0002,
                                Attributes.number(id, 0x1_0002, 8)));
    }

    @Test
    void shouldLimitNumberOfCreatedObjects() {
        var any = ObjectId.ofPartition(PARTITION);
        create(any, 4096).isGood();
        create(any, 4097).invalidField(32, any);
    }

    @Test
    void shouldUndoCreateWhoseAttributesCannotBeSet() {
        var object = new ObjectId(PARTITION, 0x2_0000);
        Lists lists = Attributes.lists(List.of(
                Attributes.number(UserObjectAttribute.collection(1), 0x7_7777, 8)), List.of());
        device.run(new CreateCommand(lists.in(v2()), object, 1, 0), lists.out(), 0)
                .illegal(AdditionalSense.INVALID_FIELD_IN_PARAMETER_LIST, object)
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.SET_ATTRIBUTES_CAPABILITY)
                .notInitiated();
        device.read(object, 0, 1).invalidField(24, object);
    }

    @Test
    void shouldEnforceQuotaOfObjectsAndPartitions() {
        var partition = ObjectId.ofPartition(PARTITION);
        Attributes.set(device, partition,
                Attributes.number(PartitionAttribute.OBJECT_COUNT_QUOTA.id(), 2, 8)).isGood();
        create(new ObjectId(PARTITION, 0x1_0005), 1).isGood();
        Reply refused = create(partition, 1);
        assertQuota(refused, partition, PartitionAttribute.OBJECT_COUNT_QUOTA.id());
        device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(),
                partition, 0, false, 0)).failed(SenseKey.DATA_PROTECT,
                        AdditionalSense.QUOTA_ERROR, partition);

        Attributes.set(device, ObjectId.ROOT,
                Attributes.number(RootAttribute.PARTITION_COUNT_QUOTA.id(), 1, 8)).isGood();
        assertQuota(createPartition(0), ObjectId.ROOT, RootAttribute.PARTITION_COUNT_QUOTA.id());
    }

    private static void assertQuota(Reply refused, ObjectId object,
            AttributeId quota) {
        refused.failed(SenseKey.DATA_PROTECT, AdditionalSense.QUOTA_ERROR, object);
        assertThat(AttributeIdentification.of(refused.sense()).orElseThrow().ids())
                .containsExactly(quota);
    }

    @Test
    void shouldFormatWithItsAttributes() {
        var name = RootAttribute.OSD_NAME.id();
        var system = RootAttribute.SYSTEM_ID.id();
        Attributes.set(device, ObjectId.ROOT, Attributes.set(system, (byte) 1))
                .invalidField(72, ObjectId.ROOT);
        Attributes.set(device, ObjectId.ROOT, Attributes.set(name, (byte) 'x')).isGood();
        Lists lists = Attributes.lists(List.of(Attributes.set(system, (byte) 1, (byte) 2),
                Attributes.set(name, (byte) 'a')), List.of(name));
        Reply reply = device.run(new FormatOsdCommand(lists.in(v2()), 1 << 20, 0), lists.out(),
                100).isGood();
        assertThat(Attributes.decode(reply.data()))
                .containsExactly(Attributes.set(name, (byte) 'a'));
        assertThat(Attributes.value(device, ObjectId.ROOT, system).toString())
                .isEqualTo("0102" + "00".repeat(18));
        assertThat(Attributes.numberOf(device, ObjectId.ROOT,
                RootAttribute.TOTAL_CAPACITY.id())).isEqualTo(1 << 20);
        assertThat(Attributes.numberOf(device, ObjectId.ROOT,
                RootAttribute.PARTITION_COUNT.id())).isZero();
    }

    @Test
    void shouldEnforceFormattedCapacity() {
        device.run(new FormatOsdCommand(v2(), 1000, 0)).isGood();
        device.withObject();
        device.write(OBJECT, 0, new byte[1000]).isGood();
        assertQuota(device.write(OBJECT, 1000, new byte[1]), OBJECT,
                RootAttribute.TOTAL_CAPACITY.id());
        device.run(new FormatOsdCommand(v2(), -1, 0)).invalidField(32, ObjectId.ROOT);
        device.run(new FormatOsdCommand(v1(), -1, 0)).invalidField(36, ObjectId.ROOT);
    }

    @Test
    void shouldChooseIdentifiers() {
        CommonFields common = v2().withAttributes(PageParameters.get(
                0xffff_fffe, new BufferPart(0, 1000)));
        Reply reply = device.run(new CreatePartitionCommand(common, 0, 0)).isGood();
        reply.has("fffffffe 00000044" + "00".repeat(32) + "02000000" + "0000000000010001"
                + "00".repeat(24));
    }

    @Test
    void shouldRefuseAttributesThatObjectCannotHave() {
        Attribute foreign = Attributes.set(PartitionAttribute.USERNAME.id(), (byte) 1);
        Lists lists = Attributes.lists(List.of(foreign), List.of());
        var object = new ObjectId(PARTITION, 0x3_0000);
        device.run(new CreateCommand(lists.in(v2()), object, 1, 0), lists.out(), 0)
                .invalidParameter(8, object);
        device.read(object, 0, 1).invalidField(24, object);
    }
}
