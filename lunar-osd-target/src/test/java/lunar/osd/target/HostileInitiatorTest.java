package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.page.UserObjectAttribute;
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
        OsdFixture device = new OsdFixture(ObjectStores.inMemory(), MAX_TRANSFER).withObject();
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
}
