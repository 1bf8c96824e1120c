package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v1;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.data.ObjectAttributesList;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.AdditionalSense;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ListCommandsTest {
    private static final ObjectId IN_PARTITION = ObjectId.ofPartition(PARTITION);

    private OsdFixture device;

    @BeforeEach
    void open() throws Exception { device = new OsdFixture().withObject(); }

    @AfterEach
    void close() throws Exception { device.close(); }

    private Reply list(ServiceAction action, CommonFields common, ObjectId object,
            long allocation, long initialId, long identifier) {
        return device.run(new ListCommand(action, common, object, allocation, initialId,
                identifier, false));
    }

    private Reply list(ObjectId object, long allocation) {
        return list(ServiceAction.LIST, v2(), object, allocation, 0, 0);
    }

    private void createCollection(long id) {
        device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(),
                new ObjectId(PARTITION, id), 0, false, 0)).isGood();
    }

    @Test
    void shouldListByType() {
        createCollection(0x5_0000);
        String header = "0000000000000018 0000000000000000 00000000 000000";
        list(ObjectId.ROOT, 1000).isGood().has(header + "04 0000000000010000");
        list(IN_PARTITION, 1000).isGood().has(header + "84 0000000000010000");
        list(ServiceAction.LIST_COLLECTION, v2(), IN_PARTITION, 1000, 0, 0).isGood()
                .has(header + "44 0000000000050000");
        list(ServiceAction.LIST, v1(), ObjectId.ROOT, 1000, 0, 0).isGood()
                .has(header + "01 0000000000010000");
        list(ServiceAction.LIST, v1(), IN_PARTITION, 1000, 0, 0).isGood()
                .has(header + "00 0000000000010000");
        list(ServiceAction.LIST_COLLECTION, v1(), IN_PARTITION, 1000, 0, 0).isGood()
                .has(header + "01 0000000000050000");
    }

    @Test
    void shouldListMembers() {
        createCollection(0x5_0000);
        var collection = new ObjectId(PARTITION, 0x5_0000);
        list(ServiceAction.LIST_COLLECTION, v2(), collection, 1000, 0, 0).isGood()
                .has("0000000000000010 0000000000000000 00000000 00000084");
        Attributes.set(device, OBJECT,
                Attributes.number(UserObjectAttribute.collection(1), 0x5_0000, 8)).isGood();
        list(ServiceAction.LIST_COLLECTION, v2(), collection, 1000, 0, 0).isGood()
                .has("0000000000000018 0000000000000000 00000000 00000084 0000000000010000");
        list(ServiceAction.LIST_COLLECTION, v2(), OBJECT, 1000, 0, 0).invalidField(24, OBJECT);
        list(ObjectId.ofPartition(0x9_9999), 1000).invalidField(16,
                ObjectId.ofPartition(0x9_9999));
    }

    @Test
    void shouldContinueListThatIsCut() throws Exception {
        device.run(new CreateCommand(v2(), IN_PARTITION, 2999, 0)).isGood();
        var all = new ArrayList<Long>();
        long identifier = 0;
        long from = 0;
        do {
            Reply reply = list(ServiceAction.LIST, v2(), IN_PARTITION, 24 + 8 * 1100 + 7, from,
                    identifier).isGood();
            ObjectList part = ObjectList.decode(MemorySegment.ofArray(reply.data()),
                    OsdVersion.OSD_2, ServiceAction.LIST);
            assertThat(part.header().additionalLength()).as("the list from here on")
                    .isEqualTo(16 + 8 * (3000 - all.size()));
            all.addAll(part.ids());
            from = part.header().continuationId();
            assertThat(part.header().changed()).isFalse();
            if (from != 0) {
                assertThat(part.header().listIdentifier()).isNotZero();
            }
            identifier = part.header().listIdentifier();
        } while (from != 0);
        assertThat(all).containsExactlyElementsOf(
                LongStream.range(0x1_0000, 0x1_0000 + 3000).boxed().toList());
    }

    /** A count for each part would make long lists take a time that grows with the square of their length. */
    @Test
    void shouldCountListOnce() throws Exception {
        device.run(new CreateCommand(v2(), IN_PARTITION, 2999, 0)).isGood();
        ObjectList first = part(0x1_0000);
        assertThat(first.header().additionalLength()).isEqualTo(16 + 8 * 3000);
        for (int i = 2500; i < 3000; i++) {
            device.run(new RemoveCommand(ServiceAction.REMOVE, v2(),
                    new ObjectId(PARTITION, 0x1_0000 + i), false, 0)).isGood();
        }
        ObjectList second = part(first.ids().getLast() + 1);
        assertThat(second.header().additionalLength()).as("what was left after the first part")
                .isEqualTo(16 + 8 * (3000 - first.ids().size()));
        ObjectList last = part(0x1_0000 + 2400);
        assertThat(last.header().additionalLength()).isEqualTo(16 + 8 * 100);
        assertThat(part(0).header().additionalLength()).isEqualTo(16 + 8 * 2500);
        assertThat(part(0x1_0001).header().additionalLength()).as("counted")
                .isEqualTo(16 + 8 * 2499);
    }

    private ObjectList part(long from) throws Exception {
        Reply reply = list(ServiceAction.LIST, v2(), IN_PARTITION, 24 + 8 * 1100, from, 0)
                .isGood();
        return ObjectList.decode(MemorySegment.ofArray(reply.data()), OsdVersion.OSD_2,
                ServiceAction.LIST);
    }

    @Test
    void shouldTellThatListHasChanged() throws Exception {
        device.run(new CreateCommand(v2(), IN_PARTITION, 2, 0)).isGood();
        Reply reply = list(IN_PARTITION, 32).isGood();
        ObjectList first = ObjectList.decode(MemorySegment.ofArray(reply.data()),
                OsdVersion.OSD_2, ServiceAction.LIST);
        assertThat(first.ids()).containsExactly(0x1_0000L);
        device.run(new CreateCommand(v2(), IN_PARTITION, 1, 0)).isGood();
        Reply next = list(ServiceAction.LIST, v2(), IN_PARTITION, 1000,
                first.header().continuationId(), first.header().listIdentifier()).isGood();
        ObjectList second = ObjectList.decode(MemorySegment.ofArray(next.data()),
                OsdVersion.OSD_2, ServiceAction.LIST);
        assertThat(second.header().changed()).isTrue();
        assertThat(second.ids()).containsExactly(0x1_0001L, 0x1_0002L, 0x1_0003L);

        Reply other = list(ObjectId.ofPartition(PARTITION), 32).isGood();
        long identifier = ObjectList.decode(MemorySegment.ofArray(other.data()),
                OsdVersion.OSD_2, ServiceAction.LIST).header().listIdentifier();
        list(ServiceAction.LIST, v2(), ObjectId.ROOT, 1000, 0, identifier).invalidField(48,
                ObjectId.ROOT);
        list(ServiceAction.LIST, v1(), ObjectId.ROOT, 1000, 0, identifier).invalidField(32,
                ObjectId.ROOT);
    }

    @Test
    void shouldListWithAttributes() throws Exception {
        device.write(OBJECT, 0, new byte[7]).isGood();
        device.run(new CreateCommand(v2(), IN_PARTITION, 1, 0)).isGood();
        var length = UserObjectAttribute.LOGICAL_LENGTH.id();
        Lists lists = Attributes.lists(List.of(), List.of(length));
        // The list has the attributes: there are none beside it.
        CommonFields common = v2().withAttributes(ListParameters.get(
                lists.parameters().getList(), BufferPart.NONE));
        Reply reply = device.run(new ListCommand(ServiceAction.LIST, common, IN_PARTITION, 1000,
                0, 0, true), lists.out(), 1000).isGood();
        var list = ObjectAttributesList.decode(MemorySegment.ofArray(reply.data()),
                ServiceAction.LIST);
        assertThat(list.header().additionalLength()).isEqualTo(reply.data().length - 8);
        assertThat(list.objects()).containsExactly(
                new ObjectAttributes(0x1_0000, ObjectType.USER_OBJECT,
                        List.of(Attributes.number(length, 7, 8))),
                new ObjectAttributes(0x1_0001, ObjectType.USER_OBJECT,
                        List.of(Attributes.number(length, 0, 8))));
        Reply cut = device.run(new ListCommand(ServiceAction.LIST, common, IN_PARTITION, 24 + 50,
                0, 0, true), lists.out(), 1000).isGood();
        list = ObjectAttributesList.decode(MemorySegment.ofArray(cut.data()),
                ServiceAction.LIST);
        assertThat(list.objects()).hasSize(1);
        assertThat(list.header().continuationId()).isEqualTo(0x1_0001);
        assertThat(list.header().additionalLength()).as("the header of the second counts")
                .isEqualTo(16 + list.objects().getFirst().length() + 16);
    }

    @Test
    void shouldTakeMemoryForWhatInitiatorReceives() {
        Reply reply = device.run(new ListCommand(ServiceAction.LIST, v2(), IN_PARTITION,
                -1L, 0, 0, false), new byte[0], 100).isGood();
        assertThat(reply.memoryBytes()).isEqualTo(100);
        assertThat(reply.data()).hasSize(32);
        for (int allocation : new int[]{0, 1, 23, 24, 31}) {
            assertThat(list(IN_PARTITION, allocation).isGood().data())
                    .hasSize(Math.min(allocation, 24));
        }
    }

    @Test
    void shouldRefuseAttributesInsideList() {
        Lists lists = Attributes.lists(OsdVersion.OSD_2, 0, List.of(),
                List.of(UserObjectAttribute.LOGICAL_LENGTH.id()), 512);
        device.run(new ListCommand(ServiceAction.LIST, lists.in(v2()), IN_PARTITION, 1000, 0, 0,
                false), lists.out(), 1000).invalidField(64, IN_PARTITION)
                .illegal(AdditionalSense.INVALID_FIELD_IN_CDB, IN_PARTITION);
    }
}
