package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.target.command.OsdLimits;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.data.ContinuationDescriptor;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.data.QueryList.Criterion;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Collections, and commands for their members. */
class CollectionCommandsTest {
    private static final ObjectId ALL = new ObjectId(PARTITION, 0x5_0000);
    private static final ObjectId SOME = new ObjectId(PARTITION, 0x5_0001);
    private static final AttributeId COLOR = new AttributeId(0x1_0000, 1);
    private static final long FIRST = OBJECT.object();

    private OsdFixture device;

    /** Five objects with the colors 0 to 4, all of them in one of two collections. */
    @BeforeEach
    void open() throws Exception {
        device = new OsdFixture().withObject();
        device.run(new CreateCommand(v2(), ObjectId.ofPartition(PARTITION), 4, 0)).isGood();
        create(ServiceAction.CREATE_COLLECTION, ALL, 0).isGood();
        create(ServiceAction.CREATE_COLLECTION, SOME, 0).isGood();
        for (int i = 0; i < 5; i++) {
            Attributes.set(device, object(i), Attributes.set(COLOR, (byte) i),
                    Attributes.number(UserObjectAttribute.collection(1), ALL.object(), 8))
                    .isGood();
        }
    }

    @AfterEach
    void close() throws Exception { device.close(); }

    private static ObjectId object(int index) { return new ObjectId(PARTITION, FIRST + index); }

    private Reply create(ServiceAction action, ObjectId id, long source) {
        return device.run(new CreateCollectionCommand(action, v2(), id, source, false, 0));
    }

    private List<Long> members(ObjectId collection) throws Exception {
        Reply reply = device.run(new ListCommand(ServiceAction.LIST_COLLECTION, v2(), collection,
                1000, 0, 0, false)).isGood();
        return ObjectList.decode(MemorySegment.ofArray(reply.data()), OsdVersion.OSD_2,
                ServiceAction.LIST_COLLECTION).ids();
    }

    private Reply query(ObjectId collection, long matches, long allocation,
            ContinuationDescriptor... descriptors) {
        byte[] segment = ContinuationSegment.of(ServiceAction.QUERY, descriptors).bytes();
        return device.run(new QueryCommand(v2(), collection, allocation, matches, false,
                segment.length), segment, 1000);
    }

    private static Criterion between(AttributeId id, String minimum, String maximum) {
        return new Criterion(id, Bytes.ofHex(minimum), Bytes.ofHex(maximum));
    }

    @Test
    void shouldFindMembersByAttributes() {
        String header = "00000000 84";
        query(ALL, 0, 1000, new QueryList(true, List.of(between(COLOR, "01", "03"),
                between(COLOR, "02", "")))).isGood()
                .has("0000000000000015" + header + "0000000000010002" + "0000000000010003");
        query(ALL, 0, 1000, new QueryList(false, List.of(between(COLOR, "", "00"),
                between(COLOR, "04", "")))).isGood()
                .has("0000000000000015" + header + "0000000000010000" + "0000000000010004");
        query(ALL, 0, 25, new QueryList(true, List.of())).isGood()
                .has("000000000000002d" + header + "0000000000010000");
        query(ALL, 0, 1000, new QueryList(true,
                List.of(between(new AttributeId(0x1_0000, 9), "", "")))).isGood()
                .has("0000000000000005" + header);
        query(ALL, 0, 1000, new QueryList(true, List.of(between(
                UserObjectAttribute.USER_OBJECT_ID.id(), "0000000000010004", "")))).isGood()
                .has("000000000000000d" + header + "0000000000010004");
    }

    @Test
    void shouldAddMatchesToCollection() throws Exception {
        query(ALL, SOME.object(), 1000,
                new QueryList(true, List.of(between(COLOR, "03", "")))).isGood();
        assertThat(members(SOME)).containsExactly(FIRST + 3, FIRST + 4);
        assertThat(Attributes.numberOf(device, object(3), UserObjectAttribute.collection(2)))
                .isEqualTo(SOME.object());
    }

    @Test
    void shouldRefuseQueriesThatCannotBe() {
        query(ALL, 0, 1000).illegal(AdditionalSense.PARAMETER_LIST_LENGTH_ERROR, ALL);
        query(OBJECT, 0, 1000, new QueryList(true, List.of())).invalidField(24, OBJECT);
        query(ALL, 0x7_7777, 1000, new QueryList(true, List.of())).invalidField(40, ALL);
        query(ALL, 0, 1000, new QueryList(true,
                List.of(between(new AttributeId(0x3001_0000, 1), "", "")))).invalidField(48, ALL);
    }

    @Test
    void shouldTrackMembersOfAnotherCollection() throws Exception {
        var tracking = new ObjectId(PARTITION, 0x5_0002);
        create(ServiceAction.CREATE_USER_TRACKING_COLLECTION, tracking, ALL.object()).isGood();
        assertThat(members(tracking)).isEqualTo(members(ALL)).hasSize(5);
        assertThat(Attributes.numberOf(device, tracking,
                CollectionAttribute.COLLECTION_TYPE.id())).isEqualTo(1);
        var other = new ObjectId(PARTITION, 0x5_0003);
        create(ServiceAction.CREATE_USER_TRACKING_COLLECTION, other, FIRST)
                .invalidField(40, other);
        create(ServiceAction.CREATE_COLLECTION, ALL, 0).invalidField(24, ALL);
    }

    private Reply members(ServiceAction action, Lists lists) {
        return device.run(new AttributesCommand(action, lists.in(v2()), ALL, false, 0),
                lists.out(), 4000);
    }

    @Test
    void shouldGetAttributesOfMembers() throws Exception {
        Reply reply = members(ServiceAction.GET_MEMBER_ATTRIBUTES,
                Attributes.lists(List.of(), List.of(COLOR))).isGood();
        assertThat(MultiObjectAttributesList.decode(MemorySegment.ofArray(reply.data()))
                .objects()).hasSize(5).endsWith(new ObjectAttributes(FIRST + 4,
                        ObjectType.USER_OBJECT, List.of(Attributes.set(COLOR, (byte) 4))));
        assertThat(Attributes.numberOf(device, ALL, CollectionAttribute.PERCENT_COMPLETE.id()))
                .isEqualTo(100);
        assertThat(Attributes.numberOf(device, ALL, CollectionAttribute.OBJECTS_PROCESSED.id()))
                .isEqualTo(5);
    }

    @Test
    void shouldSetAttributesOfMembers() {
        members(ServiceAction.SET_MEMBER_ATTRIBUTES, Attributes.lists(
                List.of(Attributes.set(COLOR, (byte) 9),
                        Attributes.number(UserObjectAttribute.LOGICAL_LENGTH.id(), 3, 8)),
                List.of())).isGood();
        for (int i = 0; i < 5; i++) {
            assertThat(Attributes.numberOf(device, object(i), COLOR)).isEqualTo(9);
            assertThat(device.read(object(i), 0, 3).isGood().data()).hasSize(3);
        }
        members(ServiceAction.SET_MEMBER_ATTRIBUTES, Attributes.lists(
                List.of(Attributes.set(CollectionAttribute.USERNAME.id(), (byte) 9)), List.of()))
                .invalidParameter(8, ALL);
    }

    @Test
    void shouldLeaveMembersAloneIfCommandIsAborted() throws Exception {
        Lists lists = Attributes.lists(List.of(Attributes.set(COLOR, (byte) 9)), List.of());
        var task = device.task(new AttributesCommand(ServiceAction.SET_MEMBER_ATTRIBUTES,
                lists.in(v2()), ALL, false, 0).bytes(), lists.out(), 0);
        task.abort();
        task.run();
        assertThat(Attributes.numberOf(device, object(0), COLOR)).isZero();
        task = device.task(new AttributesCommand(ServiceAction.REMOVE_MEMBER_OBJECTS, v2(), ALL,
                false, 0).bytes(), new byte[0], 0);
        task.abort();
        task.run();
        assertThat(members(ALL)).hasSize(5);
    }

    @Test
    void shouldRemoveMembersAndKeepCollection() throws Exception {
        members(ServiceAction.REMOVE_MEMBER_OBJECTS, Attributes.lists(List.of(), List.of()))
                .isGood();
        assertThat(members(ALL)).isEmpty();
        device.read(OBJECT, 0, 1).invalidField(24, OBJECT);
    }

    @Test
    void shouldWorkInBatches() throws Exception {
        device.run(new CreateCommand(Attributes.lists(List.of(Attributes.number(
                UserObjectAttribute.collection(1), ALL.object(), 8)), List.of()).in(v2()),
                ObjectId.ofPartition(PARTITION), 2500, 0),
                Attributes.lists(List.of(Attributes.number(UserObjectAttribute.collection(1),
                        ALL.object(), 8)), List.of()).out(),
                0).isGood();
        members(ServiceAction.SET_MEMBER_ATTRIBUTES,
                Attributes.lists(List.of(Attributes.set(COLOR, (byte) 9)), List.of())).isGood();
        Reply found = query(ALL, 0, 13,
                new QueryList(true, List.of(between(COLOR, "09", "09")))).isGood();
        assertThat(Arrays.copyOf(found.data(), 8))
                .isEqualTo(Bytes.ofHex(String.format("%016x", 5 + 8 * 2505)).toArray());
        members(ServiceAction.REMOVE_MEMBER_OBJECTS, Attributes.lists(List.of(), List.of()))
                .isGood();
        assertThat(members(ALL)).isEmpty();
    }

    @Test
    void shouldAddNoMoreMembersThanFitIntoAChange() throws Exception {
        int count = OsdLimits.MAX_ADDED + 1;
        var many = new ObjectId(PARTITION, 0x5_0002);
        create(ServiceAction.CREATE_COLLECTION, many, 0).isGood();
        boolean _ = device.store.<Boolean, Exception>change(objects -> {
            for (int i = 0; i < count; i++) {
                var id = new ObjectId(PARTITION, 0x10_0000L + i);
                objects.create(id, ObjectType.USER_OBJECT, 1);
                objects.setAttribute(id, COLOR, Bytes.of((byte) 1));
                objects.addMember(many, id);
            }
            return true;
        });
        var tracking = new ObjectId(PARTITION, 0x5_0003);
        create(ServiceAction.CREATE_USER_TRACKING_COLLECTION, tracking, many.object())
                .illegal(AdditionalSense.INSUFFICIENT_RESOURCES, tracking);
        var all = new QueryList(true, List.of(between(COLOR, "01", "01")));
        query(many, SOME.object(), 20, all).illegal(AdditionalSense.INSUFFICIENT_RESOURCES, many);
        assertThat(members(SOME)).isEmpty();
    }
}
