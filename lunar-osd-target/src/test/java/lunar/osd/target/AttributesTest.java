package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import lunar.block.OutOfRangeException;
import lunar.osd.store.Timestamp;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommandOptions;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.Isolation;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.page.PageIdentification;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.sense.CommandFunction;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AttributesTest {
    private static final AttributeId MINE = new AttributeId(0x1_0000, 1);
    private static final AttributeId ANY_PAGE = new AttributeId(0xf000_0003, 1);
    private static final ObjectId IN_PARTITION = ObjectId.ofPartition(PARTITION);
    private static final ObjectId COLLECTION = new ObjectId(PARTITION, 0x5_0000);

    private OsdFixture device;

    @BeforeEach
    void open() throws Exception { device = new OsdFixture().withObject(); }

    @AfterEach
    void close() throws Exception { device.close(); }

    private Reply run(ServiceAction action, ObjectId object, AttributeParameters attributes,
            byte[] out, int in) {
        return device.run(new AttributesCommand(action, v2().withAttributes(attributes), object,
                false, 0), out, in);
    }

    @Test
    void shouldKeepUserAttributes() {
        Attributes.set(device, OBJECT, Attributes.set(MINE, (byte) 1, (byte) 2),
                Attributes.set(ANY_PAGE, (byte) 3)).isGood();
        assertThat(Attributes.get(device, OBJECT, ANY_PAGE, MINE, new AttributeId(0x1_0000, 2)))
                .containsExactly(Attributes.set(ANY_PAGE, (byte) 3),
                        Attributes.set(MINE, (byte) 1, (byte) 2),
                        Attribute.unset(new AttributeId(0x1_0000, 2)));
        Attributes.set(device, OBJECT, Attributes.set(MINE)).isGood();
        assertThat(Attributes.value(device, OBJECT, MINE)).isEqualTo(Bytes.EMPTY);
        for (ObjectId other : List.of(ObjectId.ROOT, IN_PARTITION)) {
            Attributes.set(device, other, Attributes.set(ANY_PAGE, (byte) 4)).isGood();
            assertThat(Attributes.numberOf(device, other, ANY_PAGE)).isEqualTo(4);
        }
    }

    @Test
    void shouldPointToAttributeInError() {
        Attribute good = Attributes.set(MINE, (byte) 1); // an entry of 24 bytes behind the header of 8
        Attributes.set(device, OBJECT, good,
                Attributes.set(new AttributeId(0x1_0000, -1), (byte) 1))
                .invalidParameter(8 + 24 + 4, OBJECT);
        Attributes.set(device, OBJECT, good, Attributes.set(new AttributeId(0x7f, 1), (byte) 1))
                .invalidParameter(8 + 24, OBJECT);
        Attributes.set(device, OBJECT, good, Attributes.set(new AttributeId(-1, 1), (byte) 1))
                .invalidParameter(8 + 24, OBJECT);
        Attributes.set(device, OBJECT, good,
                Attributes.set(new AttributeId(0x3001_0000, 1), (byte) 1))
                .invalidParameter(8 + 24, OBJECT);
        Attributes.set(device, OBJECT, good,
                Attributes.set(UserObjectAttribute.MAX_LENGTH.id(), (byte) 1))
                .invalidParameter(8 + 24 + 14, OBJECT);
        Attributes.set(device, OBJECT, good,
                Attributes.set(UserObjectAttribute.LOGICAL_LENGTH.id()))
                .invalidParameter(8 + 24 + 14, OBJECT);
        Attributes.set(device, OBJECT, good, new Attribute(new AttributeId(0x1_0000, 0),
                Bytes.of(new byte[41]))).invalidParameter(8 + 24 + 14, OBJECT);
        Attributes.set(device, OBJECT, good,
                Attributes.number(UserObjectAttribute.CREATED.id(), 1, 6))
                .invalidField(72, OBJECT)
                .notInitiated();
        assertThat(Attributes.value(device, OBJECT, MINE)).as("undone")
                .isEqualTo(Bytes.EMPTY);
    }

    @Test
    void shouldPointIntoCdbOfOtherFormats() {
        run(ServiceAction.SET_ATTRIBUTES, OBJECT, new FieldParameters(
                Attributes.set(new AttributeId(0x7f, 1), (byte) 1)), new byte[0], 0)
                .invalidField(52, OBJECT);
        run(ServiceAction.SET_ATTRIBUTES, OBJECT, new FieldParameters(
                Attributes.number(UserObjectAttribute.CREATED.id(), 1, 6)), new byte[0], 0)
                .invalidField(56, OBJECT);
        run(ServiceAction.SET_ATTRIBUTES, OBJECT, new FieldParameters(
                Attributes.number(UserObjectAttribute.MAX_LENGTH.id(), 1, 6)), new byte[0], 0)
                .invalidField(60, OBJECT);
        byte[] out = new byte[512];
        for (var each : List.of(List.of(0x7f, 1, 64), List.of(3, 1, 68), List.of(2, 1, 72))) {
            run(ServiceAction.SET_ATTRIBUTES, OBJECT, new PageParameters(0, BufferPart.NONE,
                    Optional.of(new AttributeId(each.get(0), each.get(1))),
                    new BufferPart(0, 6)), out, 0).invalidField(each.get(2), OBJECT);
        }
    }

    @Test
    void shouldSetAndGetInPageFormat() {
        byte[] out = new byte[8];
        out[7] = 9;
        run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                new PageParameters(2, new BufferPart(0, 100),
                        Optional.of(UserObjectAttribute.MAX_LENGTH.id()),
                        new BufferPart(0, 8)),
                out, 100).isGood().has("00000002 00000008 0000000000000009");
        run(ServiceAction.GET_ATTRIBUTES, OBJECT, PageParameters.get(2, new BufferPart(0, 11)),
                new byte[0], 100).isGood().has("00000002 00000008 000000");
        for (int page : new int[]{0x1_0000, 0x1, 0x7f, 0x3000_0001, -1}) {
            run(ServiceAction.GET_ATTRIBUTES, OBJECT,
                    PageParameters.get(page, new BufferPart(0, 100)), new byte[0], 100).isGood()
                    .has(String.format("%08x00000000", page));
        }
        run(ServiceAction.GET_ATTRIBUTES, ObjectId.ROOT,
                PageParameters.get(0x9000_0002, new BufferPart(0, 100)), new byte[0], 100)
                .isGood().has("90000002 00000024" + "ff".repeat(36));
    }

    @Test
    void shouldSetFromCdb() {
        run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                new FieldParameters(Attributes.set(MINE, (byte) 5)), new byte[0], 0).isGood();
        assertThat(Attributes.numberOf(device, OBJECT, MINE)).isEqualTo(5);
    }

    @Test
    void shouldGetBeforeSettingInGetAttributesAlone() {
        Lists lists = Attributes.lists(List.of(Attributes.set(MINE, (byte) 5)), List.of(MINE));
        assertThat(Attributes.decode(run(ServiceAction.GET_ATTRIBUTES, OBJECT,
                lists.parameters(), lists.out(), 100).isGood().data()))
                .containsExactly(Attribute.unset(MINE));
        assertThat(Attributes.decode(run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                lists.parameters(), lists.out(), 100).isGood().data()))
                .containsExactly(Attributes.set(MINE, (byte) 5));
        var length = UserObjectAttribute.LOGICAL_LENGTH.id();
        lists = Attributes.lists(List.of(Attributes.number(length, 7, 8)), List.of(length));
        assertThat(Attributes.decode(run(ServiceAction.GET_ATTRIBUTES, OBJECT,
                lists.parameters(), lists.out(), 100).isGood().data()))
                .containsExactly(Attributes.number(length, 0, 8));
        assertThat(Attributes.numberOf(device, OBJECT, length)).isEqualTo(7);
    }

    @Test
    void shouldGetAllAttributesInOrder() {
        Attributes.set(device, OBJECT, Attributes.set(MINE, (byte) 1),
                Attributes.set(ANY_PAGE, (byte) 3),
                Attributes.set(new AttributeId(0x1_0000, 0), new byte[40])).isGood();
        List<Attribute> all = Attributes.get(device, OBJECT, new AttributeId(-1, -1));
        var ids = new ArrayList<>(all.stream().map(Attribute::id).toList());
        assertThat(ids).contains(MINE, ANY_PAGE, UserObjectAttribute.LOGICAL_LENGTH.id(),
                UserObjectAttribute.CREATED.id(), new AttributeId(0, 0x1_0000));
        var sorted = new ArrayList<>(ids);
        Collections.sort(sorted);
        assertThat(ids).isEqualTo(sorted).doesNotHaveDuplicates();
        assertThat(all).allMatch(Attribute::isSet);

        assertThat(Attributes.get(device, OBJECT, new AttributeId(0x1_0000, -1)))
                .extracting(Attribute::id)
                .containsExactly(new AttributeId(0x1_0000, 0), MINE);
        assertThat(Attributes.get(device, OBJECT, new AttributeId(-1, 0)))
                .allMatch(each -> each.value().length() == PageIdentification.LENGTH)
                .hasSize(8);
        assertThat(Attributes.get(device, OBJECT, new AttributeId(0xb000_0000, -1))).isEmpty();
    }

    @Test
    void shouldTruncateWithoutError() {
        Attributes.set(device, OBJECT, Attributes.set(MINE, new byte[100])).isGood();
        byte[] whole = Attributes.getReply(device, OBJECT, MINE).isGood().data();
        Lists lists = Attributes.lists(List.of(), List.of(MINE));
        for (int length = 0; length < whole.length; length++) {
            Reply reply = run(ServiceAction.GET_ATTRIBUTES, OBJECT,
                    ListParameters.get(lists.parameters().getList(), length == 0
                            ? BufferPart.NONE
                            : new BufferPart(0, length)),
                    lists.out(), 1000).isGood();
            byte[] expected = Arrays.copyOf(whole, length);
            if (length >= 8) {
                expected[7] = (byte) (length - 8);
            }
            assertThat(reply.data()).isEqualTo(expected);
        }
    }

    @Test
    void shouldNotTakeMoreMemoryThanAskedForAllOfManyAttributes() {
        var all = new ArrayList<Attribute>();
        for (int i = 0; i < 15; i++) {
            all.add(new Attribute(new AttributeId(0x1_0000, i + 1),
                    Bytes.of(new byte[60_000])));
        }
        Attributes.set(device, OBJECT, all.toArray(Attribute[]::new)).isGood();
        var bomb = Collections.nCopies(8000, new AttributeId(-1, -1));
        Lists lists = Attributes.lists(List.of(), bomb);
        Reply reply = run(ServiceAction.GET_ATTRIBUTES, OBJECT,
                ListParameters.get(lists.parameters().getList(),
                        new BufferPart(0, 0xffff_ffffL)),
                lists.out(), 1000).isGood();
        assertThat(reply.memoryBytes()).isEqualTo(1000);
        assertThat(reply.data()).hasSize(1000);
    }

    @Test
    void shouldLimitLists() {
        run(ServiceAction.GET_ATTRIBUTES, OBJECT, ListParameters.get(
                new BufferPart(0, (256 << 10) + 8), new BufferPart(0, 100)), new byte[0], 0)
                .invalidField(52, OBJECT);
        run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                ListParameters.set(new BufferPart(0, (1 << 20) + 8)), new byte[0], 0)
                .invalidField(68, OBJECT);
        run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                ListParameters.set(new BufferPart(1 << 20, 8)), new byte[0], 0)
                .invalidField(72, OBJECT);
        run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                ListParameters.set(new BufferPart(0, 8)), new byte[4], 0)
                .illegal(AdditionalSense.PARAMETER_LIST_LENGTH_ERROR, OBJECT);
        run(ServiceAction.SET_ATTRIBUTES, OBJECT,
                ListParameters.set(new BufferPart(0, 20)), new byte[20], 0)
                .invalidParameter(0, OBJECT);
    }

    @Test
    void shouldKeepTimestamps() throws Exception {
        var accessed = UserObjectAttribute.DATA_ACCESSED.id();
        var modified = UserObjectAttribute.DATA_MODIFIED.id();
        long created = Attributes.numberOf(device, OBJECT, UserObjectAttribute.CREATED.id());
        assertThat(created).isPositive();
        awaitClock(created);
        device.write(OBJECT, 0, new byte[1]).isGood();
        long written = Attributes.numberOf(device, OBJECT, modified);
        assertThat(written).isGreaterThan(created);
        assertThat(Attributes.numberOf(device, OBJECT, accessed)).isEqualTo(created);
        awaitClock(written);
        device.run(new ByteRangeCommand(ServiceAction.WRITE,
                v2().withOptions(new CommandOptions(Isolation.DEFAULT, true, true, true)), OBJECT,
                1, 0, 0), new byte[1], 0).isGood();
        assertThat(Attributes.numberOf(device, OBJECT, modified)).as("bypassed")
                .isEqualTo(written);
        Attributes.set(device, IN_PARTITION,
                Attributes.set(PartitionAttribute.TIMESTAMP_BYPASS.id(), (byte) 0x7f)).isGood();
        device.read(OBJECT, 0, 1).isGood();
        device.write(OBJECT, 0, new byte[1]).isGood();
        assertThat(Attributes.numberOf(device, OBJECT, modified)).isEqualTo(written);
        assertThat(Attributes.numberOf(device, OBJECT, accessed)).isEqualTo(created);
        Attributes.set(device, IN_PARTITION,
                Attributes.set(PartitionAttribute.TIMESTAMP_BYPASS.id(), (byte) 0)).isGood();
        device.read(OBJECT, 0, 1).isGood();
        assertThat(Attributes.numberOf(device, OBJECT, accessed)).isGreaterThan(written);
    }

    private static void awaitClock(long timeMs) {
        while (System.currentTimeMillis() <= timeMs) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldJoinAndLeaveCollections() {
        device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(), COLLECTION,
                0, false, 0)).isGood();
        AttributeId first = UserObjectAttribute.collection(1);
        AttributeId last = UserObjectAttribute.collection(UserObjectAttribute.LAST_COLLECTION);
        Attributes.set(device, OBJECT, Attributes.number(first, COLLECTION.object(), 8))
                .isGood();
        assertThat(Attributes.get(device, OBJECT, new AttributeId(4, -1))).hasSize(2)
                .contains(Attributes.number(first, COLLECTION.object(), 8));
        run(ServiceAction.GET_ATTRIBUTES, OBJECT, PageParameters.get(4, new BufferPart(0, 100)),
                new byte[0], 100).isGood().has("00000004 00000008 0000000000050000");
        device.run(new RemoveCommand(ServiceAction.REMOVE_COLLECTION, v2(), COLLECTION, false,
                0)).illegal(AdditionalSense.CONTAINS_USER_OBJECTS, COLLECTION);

        Attributes.set(device, OBJECT, Attributes.number(last, COLLECTION.object(), 8)).isGood();
        assertThat(Attributes.get(device, OBJECT, first, last)).containsExactly(
                Attribute.unset(first), Attributes.number(last, COLLECTION.object(), 8));
        Attributes.set(device, OBJECT, Attributes.set(last)).isGood();
        device.run(new RemoveCommand(ServiceAction.REMOVE_COLLECTION, v2(), COLLECTION, false,
                0)).isGood();
    }

    @Test
    void shouldForgetCollectionThatIsRemovedByForce() {
        AttributeId first = UserObjectAttribute.collection(1);
        for (int i = 0; i < 2; i++) {
            device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(),
                    COLLECTION, 0, false, 0)).isGood();
            assertThat(Attributes.value(device, OBJECT, first)).isEqualTo(Bytes.EMPTY);
            Attributes.set(device, OBJECT, Attributes.number(first, COLLECTION.object(), 8))
                    .isGood();
            device.run(new RemoveCommand(ServiceAction.REMOVE_COLLECTION, v2(), COLLECTION, true,
                    0)).isGood();
        }
        assertThat(Attributes.value(device, OBJECT, first)).isEqualTo(Bytes.EMPTY);
    }

    @Test
    void shouldEnforceQuotaOfCollections() {
        for (int i = 0; i < 2; i++) {
            device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(),
                    new ObjectId(PARTITION, 0x5_0000 + i), 0, false, 0)).isGood();
        }
        Attributes.set(device, IN_PARTITION, Attributes.number(
                PartitionAttribute.COLLECTIONS_PER_USER_OBJECT.id(), 1, 4)).isGood();
        Attributes.set(device, OBJECT,
                Attributes.number(UserObjectAttribute.collection(1), 0x5_0000, 8)).isGood();
        Attributes.set(device, OBJECT,
                Attributes.number(UserObjectAttribute.collection(2), 0x5_0001, 8))
                .failed(SenseKey.DATA_PROTECT, AdditionalSense.QUOTA_ERROR, OBJECT);
        Attributes.set(device, OBJECT,
                Attributes.number(UserObjectAttribute.collection(1), 0x5_0001, 8)).isGood();
    }

    @Test
    void shouldReportOnlyNosec() {
        assertThat(Attributes.value(device, ObjectId.ROOT,
                RootAttribute.SUPPORTED_SECURITY_METHODS.id()).toString()).isEqualTo("0001");
    }

    @Test
    void shouldCountDataAndObjects() {
        device.write(OBJECT, 0, new byte[10]).isGood();
        assertThat(Attributes.numberOf(device, IN_PARTITION,
                PartitionAttribute.USED_CAPACITY.id())).isEqualTo(10);
        assertThat(Attributes.numberOf(device, IN_PARTITION,
                PartitionAttribute.OBJECT_COUNT.id())).isEqualTo(1);
        assertThat(Attributes.numberOf(device, ObjectId.ROOT, RootAttribute.USED_CAPACITY.id()))
                .isEqualTo(10);
    }

    @Test
    void shouldReadOsd1Lists() {
        Lists lists = Attributes.lists(OsdVersion.OSD_1, 0,
                List.of(Attributes.set(MINE, (byte) 5)), List.of(), 0);
        device.run(new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                lists.in(OsdFixture.v1()), OBJECT, false, 0), lists.out(), 0).isGood();
        assertThat(Attributes.numberOf(device, OBJECT, MINE)).isEqualTo(5);
        lists = Attributes.lists(OsdVersion.OSD_1, 0,
                List.of(Attributes.set(MINE, (byte) 5),
                        Attributes.set(new AttributeId(0x7f, 1), (byte) 1)),
                List.of(), 0);
        device.run(new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                lists.in(OsdFixture.v1()), OBJECT, false, 0), lists.out(), 0)
                .invalidParameter(4 + 11, OBJECT)
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.SET_ATTRIBUTES_CAPABILITY, CommandFunction.COMMAND);
    }

    @Test
    void shouldNotReportCommandsForMissingObjectsAsCompleted() {
        var missing = new ObjectId(PARTITION, 0x9_9999);
        Attributes.getReply(device, missing, UserObjectAttribute.LOGICAL_LENGTH.id())
                .invalidField(24, missing)
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.GET_ATTRIBUTES_CAPABILITY)
                .notInitiated(CommandFunction.GET_ATTRIBUTES);
        Attributes.set(device, missing, Attributes.set(new AttributeId(0x1_0000, 1), (byte) 1))
                .invalidField(24, missing)
                .completed(CommandFunction.VALIDATION, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.SET_ATTRIBUTES_CAPABILITY)
                .notInitiated(CommandFunction.SET_ATTRIBUTES);
        Attributes.set(device, missing,
                Attributes.number(UserObjectAttribute.LOGICAL_LENGTH.id(), 1, 8))
                .invalidField(24, missing)
                .notInitiated(CommandFunction.SET_ATTRIBUTES);
    }

    @Test
    void shouldPointToLengthThatTheStoreCannotHave() throws Exception {
        Attribute length = Attributes.number(UserObjectAttribute.LOGICAL_LENGTH.id(), 1, 8);
        try (var other = new OsdFixture(InterceptedStore.of("resize", (_, _) -> {
            throw new OutOfRangeException("too long");
        })).withObject()) {
            Attributes.set(other, OBJECT, Attributes.set(new AttributeId(0x1_0000, 1)), length)
                    .invalidParameter(24 + 14, OBJECT);
        }
    }

    /** The partition of an object that is created has been asked for nothing. */
    @Test
    void shouldTouchTheObjectThatIsCreatedAndNotItsPartition() throws Exception {
        var partition = ObjectId.ofPartition(PARTITION);
        boolean _ = device.store.<Boolean, RuntimeException>change(objects -> {
            objects.setTime(partition, Timestamp.ATTRIBUTES_ACCESSED, 1000);
            return true;
        });
        Lists lists = Attributes.lists(List.of(), List.of(CurrentCommandAttribute.OBJECT_ID.id()));
        var created = new ObjectId(PARTITION, Values.number(Attributes.decode(device.run(
                new CreateCommand(lists.in(v2()), partition, 0, 0), lists.out(), 1000).isGood()
                .data()).getFirst().value()));
        assertThat(Attributes.numberOf(device, partition,
                PartitionAttribute.ATTRIBUTES_ACCESSED.id())).isEqualTo(1000);
        assertThat(Attributes.numberOf(device, created,
                UserObjectAttribute.ATTRIBUTES_ACCESSED.id())).isGreaterThan(1000);
    }
}
