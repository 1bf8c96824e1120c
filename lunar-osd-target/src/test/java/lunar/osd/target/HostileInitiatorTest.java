package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.target.command.OsdLimits;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.AdditionalSense;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.Test;

/** Commands that ask for more than a transfer takes, and long commands that are aborted. */
class HostileInitiatorTest {
    private static final ObjectId IN_PARTITION = ObjectId.ofPartition(PARTITION);
    private static final ObjectId ALL = new ObjectId(PARTITION, 0x5_0000);
    private static final ObjectId OTHER = new ObjectId(PARTITION, 0x5_0001);
    /** The first of the objects that are created behind the collections. */
    private static final long NEXT = 0x5_0002;
    private static final int MAX_TRANSFER = 4096;
    private static final int HUGE = Integer.MAX_VALUE;

    /** A device with small transfers, and two collections, the first of them with all objects. */
    private static OsdFixture device(int objects) throws Exception {
        return device(ObjectStores.inMemory(), objects);
    }

    private static OsdFixture device(ObjectStore store, int objects) throws Exception {
        OsdFixture device = new OsdFixture(store, MAX_TRANSFER).withObject();
        for (ObjectId id : List.of(ALL, OTHER)) {
            device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(), id, 0,
                    false, 0)).isGood();
        }
        Attribute member = Attributes.number(UserObjectAttribute.collection(1), ALL.object(), 8);
        Lists lists = Attributes.lists(List.of(member), List.of());
        Attributes.set(device, OBJECT, member).isGood();
        device.run(new CreateCommand(lists.in(v2()), IN_PARTITION, objects - 1, 0), lists.out(),
                0).isGood();
        return device;
    }

    private static ObjectList list(OsdFixture device, ObjectId of, long from, long identifier)
            throws Exception {
        Reply reply = device.run(new ListCommand(
                of.object() == 0 ? ServiceAction.LIST : ServiceAction.LIST_COLLECTION, v2(), of,
                -1, from, identifier, false), new byte[0], HUGE).isGood();
        assertThat(reply.dataInBytes()).isLessThanOrEqualTo(MAX_TRANSFER);
        return ObjectList.decode(MemorySegment.ofArray(reply.data()), OsdVersion.OSD_2,
                ServiceAction.LIST);
    }

    private static List<Long> members(OsdFixture device, ObjectId of) throws Exception {
        return list(device, of, 0, 0).ids();
    }

    @Test
    void shouldContinueListThatExceedsTransfer() throws Exception {
        try (OsdFixture device = device(1200)) {
            var all = new ArrayList<Long>();
            long from = 0;
            long identifier = 0;
            do {
                ObjectList part = list(device, IN_PARTITION, from, identifier);
                assertThat(part.ids()).isNotEmpty();
                all.addAll(part.ids());
                from = part.header().continuationId();
                identifier = part.header().listIdentifier();
            } while (from != 0);
            assertThat(all).startsWith(OBJECT.object()).hasSize(1200);
            assertThat(all.subList(1, 1200)).containsExactlyElementsOf(
                    LongStream.range(NEXT, NEXT + 1199).boxed().toList());
        }
    }

    private static ScriptedTask query(OsdFixture device, long matches) {
        byte[] segment = ContinuationSegment
                .of(ServiceAction.QUERY, new QueryList(true, List.of())).bytes();
        return device.task(new QueryCommand(v2(), ALL, -1, matches, false, segment.length),
                segment, HUGE);
    }

    @Test
    void shouldCutQueryThatExceedsTransfer() throws Exception {
        try (OsdFixture device = device(1200)) {
            Reply reply = query(device, 0).run().isGood();
            assertThat(reply.data()).hasSize(13 + (MAX_TRANSFER - 13) / 8 * 8);
            assertThat(MemorySegment.ofArray(reply.data()).asSlice(0, 8)
                    .toArray(ValueLayout.JAVA_BYTE))
                    .as("length of all").endsWith((byte) ((5 + 8 * 1200) >> 8),
                            (byte) (5 + 8 * 1200));
        }
    }

    private static void aborted(Reply reply) {
        assertThat(reply.sense().key()).as(reply.toString())
                .isEqualTo(SenseKey.ABORTED_COMMAND);
    }

    @Test
    void shouldUndoQueryThatIsAborted() throws Exception {
        try (OsdFixture device = device(1500)) {
            aborted(query(device, OTHER.object()).abortAtCheck(700).run());
            assertThat(members(device, OTHER)).isEmpty();
        }
    }

    @Test
    void shouldSearchBeforeTheChangeThatAddsWhatWasFound() throws Exception {
        var removed = new ObjectId(PARTITION, NEXT);
        var armed = new AtomicBoolean();
        ObjectStore intercepted = InterceptedStore.of("change", (store, _) -> {
            if (armed.getAndSet(false)) {
                boolean _ = store.<Boolean, RuntimeException>change(objects -> {
                    objects.remove(removed);
                    return true;
                });
            }
            return Optional.empty();
        });
        try (OsdFixture device = device(intercepted, 3)) {
            armed.set(true);
            assertThat(query(device, OTHER.object()).run().isGood().data()).hasSize(13 + 3 * 8);
            assertThat(armed).isFalse();
            assertThat(members(device, OTHER)).containsExactly(OBJECT.object(), NEXT + 1);
        }
    }

    @Test
    void shouldUndoCollectionWhoseCreationIsAborted() throws Exception {
        try (OsdFixture device = device(1500)) {
            var tracking = new ObjectId(PARTITION, 0x9_0000);
            var create = new CreateCollectionCommand(
                    ServiceAction.CREATE_USER_TRACKING_COLLECTION, v2(), tracking, ALL.object(),
                    false, 0);
            aborted(device.task(create, new byte[0], 0).abortAtCheck(2).run());
            device.run(new ListCommand(ServiceAction.LIST_COLLECTION, v2(), tracking, 1000, 0, 0,
                    false)).invalidField(24, tracking);
        }
    }

    @Test
    void shouldUndoAttributesWhoseSettingIsAborted() throws Exception {
        try (OsdFixture device = device(1)) {
            List<Attribute> bomb = IntStream.range(0, 100)
                    .mapToObj(i -> Attributes.set(new AttributeId(0x1_0000, i + 1), (byte) 9))
                    .toList();
            Lists lists = Attributes.lists(bomb, List.of());
            aborted(device.task(new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                    lists.in(v2()), OBJECT, false, 0), lists.out(), 0).abortAtCheck(50).run());
            assertThat(Attributes.get(device, OBJECT,
                    new AttributeId(0x1_0000, AttributeId.ALL_NUMBERS))).isEmpty();
        }
    }

    @Test
    void shouldStopSettingMembersThatIsAborted() throws Exception {
        try (OsdFixture device = device(1500)) {
            Lists lists = Attributes.lists(
                    List.of(Attributes.set(new AttributeId(0x1_0000, 1), (byte) 9)), List.of());
            aborted(device.task(new AttributesCommand(ServiceAction.SET_MEMBER_ATTRIBUTES,
                    lists.in(v2()), ALL, false, 0), lists.out(), 0).abortAtCheck(700).run());
            assertThat(Attributes.value(device, OBJECT, new AttributeId(0x1_0000, 1)).length())
                    .as("the batch is undone").isZero();
        }
    }

    @Test
    void shouldSetManyAttributesOfMembersInSmallBatches() throws Exception {
        try (OsdFixture device = device(12)) {
            List<Attribute> bomb = IntStream.range(0, 160)
                    .mapToObj(i -> Attributes.set(new AttributeId(0x1_0000, i + 1), (byte) 9))
                    .toList();
            Lists lists = Attributes.lists(bomb, List.of());
            aborted(device.task(new AttributesCommand(ServiceAction.SET_MEMBER_ATTRIBUTES,
                    lists.in(v2()), ALL, false, 0), lists.out(), 0)
                    .abortAtCheck(8 * bomb.size()).run());
            var last = new ObjectId(PARTITION, NEXT + 10);
            assertThat(Attributes.get(device, OBJECT,
                    new AttributeId(0x1_0000, AttributeId.ALL_NUMBERS)))
                    .as("of the first batch").hasSize(bomb.size());
            assertThat(Attributes.get(device, last,
                    new AttributeId(0x1_0000, AttributeId.ALL_NUMBERS))).isEmpty();
        }
    }

    @Test
    void shouldRefuseToCreateTooManyAttributes() throws Exception {
        try (OsdFixture device = new OsdFixture().withObject()) {
            Lists lists = Attributes.lists(List.of(
                    Attributes.set(new AttributeId(0x1_0000, 1), new byte[65_000])), List.of());
            device.run(new CreateCommand(lists.in(v2()), IN_PARTITION, 4096, 0), lists.out(), 0)
                    .invalidField(32, IN_PARTITION);
            device.run(new CreateCommand(lists.in(v2()), IN_PARTITION, 4, 0), lists.out(), 0)
                    .isGood();
        }
    }

    @Test
    void shouldRefuseToGetTooManyAttributesOfNewObjects() throws Exception {
        try (OsdFixture device = new OsdFixture().withObject()) {
            Lists lists = Attributes.lists(List.of(), IntStream.range(0, 1000)
                    .mapToObj(i -> new AttributeId(0x1_0000, i + 1)).toList());
            device.run(new CreateCommand(lists.in(v2()), IN_PARTITION, 4096, 0), lists.out(), 0)
                    .invalidField(32, IN_PARTITION);
            device.run(new CreateCommand(lists.in(v2()), IN_PARTITION, 4, 0), lists.out(), 0)
                    .isGood();
        }
    }

    @Test
    void shouldRefuseToSearchAllPagesTooOften() throws Exception {
        try (OsdFixture device = new OsdFixture().withObject()) {
            List<AttributeId> ids = Collections.nCopies(OsdLimits.MAX_SEARCHES,
                    new AttributeId(AttributeId.ALL_PAGES, 0x7777_7777));
            assertThat(Attributes.get(device, OBJECT, ids.toArray(AttributeId[]::new)))
                    .isEmpty();
            var more = new ArrayList<>(ids);
            more.add(new AttributeId(AttributeId.ALL_PAGES, 0x7777_7777));
            Attributes.getReply(device, OBJECT, more.toArray(AttributeId[]::new))
                    .illegal(AdditionalSense.INSUFFICIENT_RESOURCES, OBJECT);
            Lists lists = Attributes.lists(List.of(), ids.subList(0, 2));
            device.run(new CreateCommand(lists.in(v2()), IN_PARTITION,
                    OsdLimits.MAX_SEARCHES / 2 + 1, 0), lists.out(), 0)
                    .illegal(AdditionalSense.INSUFFICIENT_RESOURCES, IN_PARTITION);
            device.run(new CreateCommand(lists.in(v2()), IN_PARTITION,
                    OsdLimits.MAX_SEARCHES / 2, 0), lists.out(), 0).isGood();
        }
    }
}
