package lunar.osd.target;

import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.store.directory.DirectoryObjectStore;
import lunar.osd.store.directory.StoreOptions;
import lunar.osd.target.Attributes.Lists;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.Status;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random commands on a few objects, compared with a model of their data and attributes. */
class ObjectModelTest {
    private static final int STEPS = 4000;
    private static final int OBJECTS = 6;
    private static final int MAX_LENGTH = 300;
    private static final AttributeId LENGTH = UserObjectAttribute.LOGICAL_LENGTH.id();

    private static final class Model {
        private byte[] data = new byte[0];
        private final Map<AttributeId, Bytes> attributes = new TreeMap<>();

        void write(int offset, byte[] bytes) {
            data = Arrays.copyOf(data, bytes.length == 0
                    ? data.length
                    : Math.max(data.length, offset + bytes.length));
            System.arraycopy(bytes, 0, data, bytes.length == 0 ? 0 : offset, bytes.length);
        }

        void punch(int offset, int count) {
            int end = Math.min(data.length, offset + count);
            byte[] left = Arrays.copyOf(data, data.length - (end - offset));
            System.arraycopy(data, end, left, offset, data.length - end);
            data = left;
        }
    }

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private final Map<Long, Model> models = new TreeMap<>();

    @Test
    void shouldBehaveLikeModel() throws Exception { run(ObjectStores.inMemory(), STEPS); }

    @Test
    void shouldBehaveLikeModelInDirectory(@TempDir Path folder) throws Exception {
        run(DirectoryObjectStore.open(folder.resolve("store"), StoreOptions.CREATE), STEPS / 4);
    }

    private void run(ObjectStore store, int steps) throws Exception {
        try (OsdFixture device = new OsdFixture(store).withObject()) {
            models.put(OsdFixture.OBJECT.object(), new Model());
            for (int i = 0; i < steps; i++) {
                String step = "seed " + seed + ", step " + i;
                try {
                    step(device);
                } catch (AssertionError e) {
                    throw new AssertionError(step, e);
                }
            }
        }
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private void step(OsdFixture device) throws Exception {
        long id = ObjectId.FIRST + random.nextInt(OBJECTS);
        var object = new ObjectId(PARTITION, id);
        Model model = models.get(id);
        int offset = random.nextInt(MAX_LENGTH);
        byte[] data = bytes(random.nextInt(40));
        switch (random.nextInt(11)) {
            case 0 -> create(device, object, model, data, offset);
            case 1 -> remove(device, object, model);
            case 2 -> data(device, ServiceAction.WRITE, object, model, offset, data);
            case 3 -> data(device, ServiceAction.APPEND, object, model, 0, data);
            case 4 -> range(device, ServiceAction.CLEAR, object, model, offset, data.length);
            case 5 -> range(device, ServiceAction.PUNCH, object, model, offset, data.length);
            case 6 -> truncate(device, object, model, offset);
            case 7, 8 -> attributes(device, object, model, data);
            case 9 -> read(device, object, model, offset, data.length);
            default -> list(device);
        }
    }

    private static void missing(Reply reply, ObjectId object) { reply.invalidField(24, object); }

    private void create(OsdFixture device, ObjectId object, Model model, byte[] data,
            int offset) {
        boolean writes = random.nextBoolean();
        Reply reply = writes
                ? device.run(new ByteRangeCommand(ServiceAction.CREATE_AND_WRITE, v2(), object,
                        data.length, offset, 0), data, 0)
                : device.run(new CreateCommand(v2(), object, 1, 0));
        if (model != null) {
            missing(reply, object);
            return;
        }
        reply.isGood();
        var created = new Model();
        if (writes) {
            created.write(offset, data);
        }
        models.put(object.object(), created);
    }

    private void remove(OsdFixture device, ObjectId object, Model model) {
        if (random.nextInt(4) != 0) {
            return;
        }
        Reply reply = device
                .run(new RemoveCommand(ServiceAction.REMOVE, v2(), object, false, 0));
        if (model == null) {
            missing(reply, object);
        } else {
            reply.isGood();
            models.remove(object.object());
        }
    }

    /** Writes, and gets the length with it. */
    private void data(OsdFixture device, ServiceAction action, ObjectId object, Model model,
            int offset, byte[] data) {
        Lists lists = Attributes.lists(OsdVersion.OSD_2, 256, List.of(), List.of(LENGTH), 0);
        System.arraycopy(data, 0, lists.out(), 0, data.length);
        Reply reply = device.run(new ByteRangeCommand(action, lists.in(v2()), object,
                data.length, offset, 0), lists.out(), 1000);
        if (model == null) {
            missing(reply, object);
            return;
        }
        reply.isGood();
        model.write(action == ServiceAction.APPEND ? model.data.length : offset, data);
        assertThat(Attributes.decode(reply.data()))
                .containsExactly(Attributes.number(LENGTH, model.data.length, 8));
    }

    private void range(OsdFixture device, ServiceAction action, ObjectId object, Model model,
            int offset, int count) {
        Reply reply = device.run(new ByteRangeCommand(action, v2(), object, count, offset, 0));
        if (model == null) {
            missing(reply, object);
        } else if (action == ServiceAction.CLEAR) {
            reply.isGood();
            model.write(offset, new byte[count]);
        } else if (offset > model.data.length) {
            reply.invalidField(40, object);
        } else {
            reply.isGood();
            model.punch(offset, count);
        }
    }

    private void truncate(OsdFixture device, ObjectId object, Model model, int length) {
        Reply reply = Attributes.set(device, object, Attributes.number(LENGTH, length, 8));
        if (model == null) {
            missing(reply, object);
            return;
        }
        reply.isGood();
        model.data = Arrays.copyOf(model.data, length);
    }

    /** Sets an attribute, sometimes together with one that cannot be set, which undoes it. */
    private void attributes(OsdFixture device, ObjectId object, Model model, byte[] value) {
        var id = new AttributeId(0x1_0000 + random.nextInt(2), 1 + random.nextInt(3));
        boolean wrong = random.nextInt(4) == 0;
        var set = new ArrayList<>(List.of(new Attribute(id, Bytes.of(value))));
        if (wrong) {
            set.add(Attributes.set(new AttributeId(0x7f, 1), (byte) 1));
        }
        Reply reply = Attributes.set(device, object, set.toArray(Attribute[]::new));
        if (model == null) {
            missing(reply, object);
            return;
        }
        assertThat(reply.status()).isEqualTo(wrong ? Status.CHECK_CONDITION : Status.GOOD);
        if (!wrong && value.length == 0) {
            model.attributes.remove(id);
        } else if (!wrong) {
            model.attributes.put(id, Bytes.of(value));
        }
        var expected = new ArrayList<Attribute>();
        model.attributes.forEach((each, bytes) -> expected.add(new Attribute(each, bytes)));
        assertThat(Attributes.get(device, object, new AttributeId(0x1_0000, -1),
                new AttributeId(0x1_0001, -1))).isEqualTo(expected);
    }

    private static void read(OsdFixture device, ObjectId object, Model model, int offset,
            int count) {
        Reply reply = device.read(object, offset, count);
        if (model == null) {
            missing(reply, object);
            return;
        }
        int end = Math.min(model.data.length, offset + count);
        byte[] expected = end <= offset
                ? new byte[0]
                : Arrays.copyOfRange(model.data, offset, end);
        assertThat(reply.data()).isEqualTo(expected);
        assertThat(reply.status()).isEqualTo(
                expected.length < count ? Status.CHECK_CONDITION : Status.GOOD);
    }

    private void list(OsdFixture device) throws Exception {
        Reply reply = device.run(new ListCommand(ServiceAction.LIST, v2(),
                ObjectId.ofPartition(PARTITION), 1000, 0, 0, false)).isGood();
        assertThat(ObjectList.decode(MemorySegment.ofArray(reply.data()), OsdVersion.OSD_2,
                ServiceAction.LIST).ids()).containsExactlyElementsOf(models.keySet());
    }
}
