package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.page.UserObjectAttribute;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands for the members of a collection that both get and set attributes. */
class MemberCommandsTest {
    private static final ObjectId COLLECTION = new ObjectId(PARTITION, 0x5_0000);
    private static final AttributeId COLOR = new AttributeId(0x1_0000, 1);

    private OsdFixture device;

    /** An object of color 1 in a collection. */
    @BeforeEach
    void open() throws Exception {
        device = new OsdFixture().withObject();
        device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(), COLLECTION,
                0, false, 0)).isGood();
        Attributes.set(device, OBJECT, Attributes.set(COLOR, (byte) 1),
                Attributes.number(UserObjectAttribute.collection(1), COLLECTION.object(), 8))
                .isGood();
    }

    @AfterEach
    void close() throws Exception { device.close(); }

    /** Sets the color 2 and gets colors. */
    private void assertColor(ServiceAction action, int expected) throws Exception {
        Lists lists = Attributes.lists(List.of(Attributes.set(COLOR, (byte) 2)), List.of(COLOR));
        Reply reply = device.run(new AttributesCommand(action, lists.in(v2()), COLLECTION, false,
                0), lists.out(), 1000).isGood();
        assertThat(MultiObjectAttributesList.decode(MemorySegment.ofArray(reply.data()))
                .objects()).containsExactly(new ObjectAttributes(OBJECT.object(),
                        ObjectType.USER_OBJECT,
                        List.of(Attributes.set(COLOR, (byte) expected))));
    }

    @Test
    void shouldSetAttributesBesideGettingThoseOfMembers() throws Exception {
        assertColor(ServiceAction.GET_MEMBER_ATTRIBUTES, 1);
        assertThat(Attributes.numberOf(device, OBJECT, COLOR)).isEqualTo(2);
    }

    @Test
    void shouldGetAttributesThatWereSetForMembers() throws Exception {
        assertColor(ServiceAction.SET_MEMBER_ATTRIBUTES, 2);
    }

    @Test
    void shouldGetAttributesOfMembersBeforeTheyAreRemoved() throws Exception {
        assertColor(ServiceAction.REMOVE_MEMBER_OBJECTS, 2);
        device.read(OBJECT, 0, 1).invalidField(24, OBJECT);
    }

    /** Another command removes a member while the lengths of all are set. */
    @Test
    void shouldSkipMemberThatIsRemovedWhileLengthsAreSet() throws Exception {
        var first = new ObjectId(PARTITION, 0x2_0000);
        var second = new ObjectId(PARTITION, 0x2_0001);
        var removes = new AtomicBoolean();
        try (var other = new OsdFixture(InterceptedStore.of("resize", (store, arguments) -> {
            if (arguments[0].equals(first) && removes.get()) {
                boolean _ = store.<Boolean, RuntimeException>change(objects -> {
                    objects.remove(first);
                    return true;
                });
            }
            return Optional.empty();
        })).withObject()) {
            other.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(),
                    COLLECTION, 0, false, 0)).isGood();
            Lists member = Attributes.lists(List.of(Attributes.number(
                    UserObjectAttribute.collection(1), COLLECTION.object(), 8)), List.of());
            for (ObjectId id : List.of(first, second)) {
                other.run(new CreateCommand(member.in(v2()), id, 0, 0), member.out(), 0).isGood();
            }
            removes.set(true);
            AttributeId length = UserObjectAttribute.LOGICAL_LENGTH.id();
            Lists lists = Attributes.lists(List.of(Attributes.number(length, 5, 8)), List.of());
            other.run(new AttributesCommand(ServiceAction.SET_MEMBER_ATTRIBUTES, lists.in(v2()),
                    COLLECTION, false, 0), lists.out(), 0).isGood();
            assertThat(Attributes.numberOf(other, second, length)).isEqualTo(5);
            other.read(first, 0, 1).invalidField(24, first);
        }
    }
}
