package lunar.osd.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.data.QueryMatches;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.Test;

/** Attributes, collections and queries, against a unit that answers by CDB. */
class AttributesTest {
    private static final AttributeId KIND = new AttributeId(0x1_0000, 1);
    private static final AttributeId TEXT = new AttributeId(0x1_0000, 2);

    private final ScriptedUnit unit = new ScriptedUnit();

    private UserObject object() throws Exception {
        return unit.open().partition(0x10000).object(0x10001);
    }

    private static Attribute of(AttributeId id, int length) {
        return new Attribute(id, Bytes.of(new byte[length]).with(length - 1, 7));
    }

    @Test
    void shouldTellUnsetFromSet() throws Exception {
        unit.on(ServiceAction.GET_ATTRIBUTES, command -> command.retrieved(
                command.gets().ids().stream().map(id -> id.equals(KIND)
                        ? of(KIND, 3)
                        : Attribute.unset(id)).toArray(Attribute[]::new)));

        assertThat(object().get(KIND)).contains(Bytes.ofHex("000007"));
        assertThat(object().get(TEXT)).isEmpty();
        assertThat(object().get(List.of(TEXT, KIND))).containsExactly(Attribute.unset(TEXT),
                of(KIND, 3));
    }

    @Test
    void shouldSetAndDelete() throws Exception {
        UserObject object = object();
        object.set(KIND, Bytes.of((byte) 1));
        object.delete(KIND, TEXT);

        assertThat(unit.received().get(0).sets())
                .containsExactly(new Attribute(KIND, Bytes.of((byte) 1)));
        assertThat(unit.received().get(1).sets()).containsExactly(Attribute.unset(KIND),
                Attribute.unset(TEXT));
        assertThat(unit.actions()).containsOnly(ServiceAction.SET_ATTRIBUTES);
    }

    @Test
    void shouldAskAgainForValuesThatDidNotFit() throws Exception {
        unit.on(ServiceAction.GET_ATTRIBUTES, command -> command.retrieved(of(KIND, 100),
                of(TEXT, 60_000)));

        assertThat(object().get(List.of(KIND, TEXT))).containsExactly(of(KIND, 100),
                of(TEXT, 60_000));
        assertThat(unit.received()).hasSize(2);
    }

    @Test
    void shouldGetAWholePageOfAnySize() throws Exception {
        var all = new ArrayList<Attribute>();
        for (int i = 1; i <= 300; i++) {
            all.add(of(new AttributeId(0x1_0000, i), 1000));
        }
        unit.on(ServiceAction.GET_ATTRIBUTES,
                command -> command.retrieved(all.toArray(Attribute[]::new)));

        assertThat(object().getPage(0x1_0000)).isEqualTo(all);
    }

    @Test
    void shouldGetWhatDidNotFitBesideAnotherCommandWithASecondOne() throws Exception {
        unit.on(ServiceAction.CREATE, command -> command.retrieved(
                new Attribute(CurrentCommandAttribute.OBJECT_ID.id(),
                        Bytes.ofHex("0000000000010009")),
                of(TEXT, 5000), of(KIND, 1)))
                .on(ServiceAction.GET_ATTRIBUTES,
                        command -> command.retrieved(of(TEXT, 5000), of(KIND, 1)));

        Reply<UserObject> reply = unit.open().partition(0x10000)
                .create(RequestOptions.NONE.get(TEXT, KIND));

        assertThat(reply.value()).hasToString("10000h/10009h");
        assertThat(reply.attribute(TEXT)).contains(of(TEXT, 5000).value());
        assertThat(reply.attribute(KIND)).contains(of(KIND, 1).value());
        assertThat(unit.received().get(1).cdb().object().object()).isEqualTo(0x10009);
        assertThat(unit.received().get(1).gets().ids()).containsExactly(TEXT, KIND);
    }

    // --- collections ---

    @Test
    void shouldJoinACollectionByAFreeNumber() throws Exception {
        unit.on(ServiceAction.GET_ATTRIBUTES, command -> command.retrieved(
                new Attribute(new AttributeId(4, 1), Bytes.ofHex("0000000000010100")),
                new Attribute(new AttributeId(4, 3), Bytes.ofHex("0000000000010102"))));
        Partition partition = unit.open().partition(0x10000);
        UserObject object = partition.object(0x10001);

        partition.collection(0x10101).add(object);
        assertThat(unit.received().getLast().sets()).containsExactly(new Attribute(
                new AttributeId(4, 2), Bytes.ofHex("0000000000010101")));

        partition.collection(0x10102).add(object);
        assertThat(unit.actions().getLast()).isEqualTo(ServiceAction.GET_ATTRIBUTES);

        partition.collection(0x10102).remove(object);
        assertThat(unit.received().getLast().sets())
                .containsExactly(Attribute.unset(new AttributeId(4, 3)));
        assertThat(object.collections()).extracting(each -> each.id().object())
                .containsExactly(0x10100L, 0x10102L);
    }

    @Test
    void shouldSendTheQueryBeforeAnythingElse() throws Exception {
        List<Long> ids = LongStream.range(0x10000, 0x10000 + 20_000).boxed().toList();
        unit.on(ServiceAction.QUERY, command -> {
            MemorySegment matches = MemorySegment.ofArray(QueryMatches.of(ids).bytes());
            long length = Math.min(matches.byteSize(), command.in().byteSize());
            command.in().copyFrom(matches.asSlice(0, length));
            return ScriptedUnit.good((int) length);
        });
        var criterion = new QueryList.Criterion(KIND, Bytes.of((byte) 1), Bytes.of((byte) 3));

        List<UserObject> found = unit.open().partition(0x10000).collection(0x10100).query(true,
                criterion);

        assertThat(found).hasSize(20_000);
        ScriptedUnit.Received sent = unit.received().getFirst();
        var cdb = (QueryCommand) sent.cdb();
        assertThat(ContinuationSegment.decode(sent.out().asSlice(0, cdb.continuationLength()),
                ServiceAction.QUERY).descriptors())
                .containsExactly(new QueryList(true, List.of(criterion)));
        assertThat(unit.received()).hasSize(2);
    }
}
