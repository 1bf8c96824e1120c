package lunar.osd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributesPage;
import lunar.osd.wire.attribute.CreatedObjectsAttributesList;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.MultiObjectAttributesList;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.data.ContinuationDescriptor;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.ListHeader;
import lunar.osd.wire.data.MasterKeyData;
import lunar.osd.wire.data.ObjectAttributesList;
import lunar.osd.wire.data.ObjectList;
import lunar.osd.wire.data.ObjectMap;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.data.QueryMatches;
import lunar.osd.wire.data.TaskManagementResponse;
import lunar.scsi.Bytes;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests for all data formats that encoding and decoding are inverse, that decoders throw only declared exceptions, and
 * that they do not allocate by lengths that a peer sent.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DataPropertyTest {
    private static final int ROUNDS = 2_000;
    private static final int HOSTILE_ROUNDS = 10_000;
    private static final int ROOM = 1 << 16;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    /** How to make random values of a format, to encode and to decode them. */
    record Format<T>(Supplier<T> next, Encoder<T> encoder, Allocation.Decoder decoder) {
        interface Encoder<T> {
            byte[] encode(T value);
        }

        byte[] encoded(T value) { return encoder.encode(value); }
    }

    private final Map<String, Format<?>> formats = formats();

    List<String> names() { return List.copyOf(formats.keySet()); }

    private Map<String, Format<?>> formats() {
        var all = new LinkedHashMap<String, Format<?>>();
        for (OsdVersion version : OsdVersion.values()) {
            all.put("get list, " + version, new Format<>(() -> new GetAttributesList(list(20,
                    this::id)), list -> list.bytes(version),
                    bytes -> GetAttributesList.decode(bytes, version)));
            all.put("set list, " + version, new Format<>(() -> new SetAttributesList(list(20,
                    this::attribute)), list -> list.bytes(version),
                    bytes -> SetAttributesList.decode(bytes, version)));
            all.put("retrieved list, " + version,
                    new Format<>(() -> new RetrievedAttributesList(list(20, this::attribute)),
                            list -> cut(target -> list.encode(target, ROOM, version)),
                            bytes -> RetrievedAttributesList.decode(bytes, version)));
            all.put("object list, " + version, new Format<>(() -> objectList(version),
                    ObjectList::bytes,
                    bytes -> ObjectList.decode(bytes, version, ServiceAction.LIST)));
        }
        all.put("multi-object list", new Format<>(() -> new MultiObjectAttributesList(list(10,
                this::object)), list -> cut(target -> list.encode(target, ROOM)),
                MultiObjectAttributesList::decode));
        all.put("created objects", new Format<>(() -> new CreatedObjectsAttributesList(list(10,
                () -> new CreatedObjectsAttributesList.Entry(random.nextLong(), attribute()))),
                list -> cut(target -> list.encode(target, ROOM)),
                CreatedObjectsAttributesList::decode));
        all.put("object list with attributes", new Format<>(this::objectAttributesList,
                ObjectAttributesList::bytes,
                bytes -> ObjectAttributesList.decode(bytes, ServiceAction.LIST)));
        all.put("page", new Format<>(() -> new AttributesPage(random.nextInt(), bytes(100)),
                AttributesPage::bytes, AttributesPage::decode));
        all.put("object map", new Format<>(
                () -> new ObjectMap(list(20,
                        () -> new ObjectMap.Range(random.nextInt(0x1_0000),
                                random.nextLong(1L << 32), random.nextLong()))),
                ObjectMap::bytes, ObjectMap::decode));
        all.put("query matches", new Format<>(() -> QueryMatches.of(list(20, random::nextLong)),
                QueryMatches::bytes, QueryMatches::decode));
        all.put("query list", new Format<>(this::queryList, QueryList::content,
                QueryList::decode));
        all.put("continuation segment", new Format<>(
                () -> new ContinuationSegment(ServiceAction.QUERY, filled(32),
                        list(5, this::descriptor)),
                ContinuationSegment::bytes,
                bytes -> ContinuationSegment.decode(bytes, ServiceAction.QUERY)));
        all.put("task management response", new Format<>(
                () -> new TaskManagementResponse(random.nextInt(256), random.nextInt(1 << 24)),
                TaskManagementResponse::bytes, TaskManagementResponse::decode));
        all.put("master key data", new Format<>(
                () -> new MasterKeyData(List.of(bytes(300), bytes(300))), MasterKeyData::bytes,
                bytes -> MasterKeyData.decode(bytes, 2)));
        return all;
    }

    private interface Writer {
        int write(MemorySegment target);
    }

    private static byte[] cut(Writer writer) {
        var target = MemorySegment.ofArray(new byte[ROOM]);
        return Bytes.of(target.asSlice(0, writer.write(target))).toArray();
    }

    private <T> List<T> list(int most, Supplier<T> next) {
        var list = new ArrayList<T>();
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            list.add(next.get());
        }
        return list;
    }

    private AttributeId id() { return new AttributeId(random.nextInt(), random.nextInt()); }

    private Attribute attribute() { return new Attribute(id(), bytes(60)); }

    private ObjectAttributes object() {
        return new ObjectAttributes(random.nextLong(),
                ObjectType.values()[random.nextInt(ObjectType.values().length)],
                list(5, this::attribute));
    }

    private ObjectList objectList(OsdVersion version) {
        List<Long> ids = list(20, random::nextLong);
        return new ObjectList(new ListHeader(version,
                16 + 8L * ids.size() + (random.nextBoolean() ? 0 : random.nextLong(1 << 30)),
                random.nextLong(), random.nextLong(1L << 32),
                random.nextBoolean() ? ObjectType.PARTITION : ObjectType.USER_OBJECT, false,
                random.nextBoolean()), ids);
    }

    private ObjectAttributesList objectAttributesList() {
        return new ObjectAttributesList(
                new ListHeader(OsdVersion.OSD_2, -1, random.nextLong(), random.nextLong(1L << 32),
                        ObjectType.COLLECTION, true, random.nextBoolean()),
                list(10, this::object));
    }

    private QueryList queryList() {
        return new QueryList(random.nextBoolean(), list(10,
                () -> new QueryList.Criterion(id(), bytes(20), bytes(20))));
    }

    private ContinuationDescriptor descriptor() {
        return switch (random.nextInt(6)) {
            case 0 -> new ContinuationDescriptor.ScatterGather(list(10,
                    () -> new ContinuationDescriptor.ScatterGather.Extent(random.nextLong(),
                            random.nextLong())));
            case 1 -> queryList();
            case 2 -> new ContinuationDescriptor.UserObjects(list(10, random::nextLong));
            case 3 -> new ContinuationDescriptor.CopySource(
                    new ObjectId(random.nextLong(), random.nextLong()), bytes(10));
            case 4 -> new ContinuationDescriptor.ExtensionCapabilities(bytes(300));
            default -> new ContinuationDescriptor.Other(0x200 + random.nextInt(0x1000), bytes(50));
        };
    }

    private Bytes bytes(int most) { return filled(random.nextInt(most + 1)); }

    private Bytes filled(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return Bytes.of(bytes);
    }

    @ParameterizedTest
    @MethodSource("names")
    void shouldDecodeWhatItEncodes(String name) throws Exception {
        checkInverse(formats.get(name));
    }

    private <T> void checkInverse(Format<T> format) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            T value = format.next().get();
            byte[] bytes = format.encoded(value);
            assertThat(format.decoder().decode(MemorySegment.ofArray(bytes).asReadOnly()))
                    .as("seed %d, round %d", seed, round).isEqualTo(value);
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void shouldRejectHostileBytesInAnOrderlyWay(String name) {
        checkHostile(name, formats.get(name));
    }

    private <T> void checkHostile(String name, Format<T> format) {
        int taken = 0;
        for (int round = 0; round < HOSTILE_ROUNDS; round++) {
            byte[] bytes = format.encoded(format.next().get());
            for (int i = random.nextInt(4); i > 0 && bytes.length > 0; i--) {
                int at = random.nextInt(Math.min(bytes.length, random.nextBoolean() ? 64 : ROOM));
                bytes[at] = (byte) (random.nextBoolean() ? random.nextInt() : 0xff);
            }
            if (random.nextInt(8) == 0) {
                random.nextBytes(bytes);
            }
            MemorySegment given = MemorySegment.ofArray(bytes);
            if (random.nextInt(4) == 0) {
                given = given.asSlice(0, random.nextInt(bytes.length + 1));
            }
            if (Allocation.decode(format.decoder(), given.asReadOnly(),
                    name + ", seed " + seed + ", round " + round)) {
                taken++;
            }
        }
        assertThat(taken).as("taken, seed %d", seed).isGreaterThan(HOSTILE_ROUNDS / 20);
    }

    @Test
    void shouldNotAllocateByLengthsThatAPeerSent() {
        byte[] ones = new byte[64];
        Arrays.fill(ones, (byte) 0xff);
        for (Map.Entry<String, Format<?>> format : formats.entrySet()) {
            for (int type = 0; type < 16; type++) {
                ones[0] = (byte) type; // the type of a list, or the top of a length
                Allocation.decode(format.getValue().decoder(), MemorySegment.ofArray(ones),
                        format.getKey());
            }
        }
    }

    @Test
    void shouldDecodeManySmallEntriesInLittleMemory() {
        var zeros = MemorySegment.ofArray(new byte[1 << 22]);
        for (OsdVersion version : OsdVersion.values()) {
            zeros.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            assertThat(Allocation.decode(bytes -> GetAttributesList.decode(bytes, version),
                    zeros.asSlice(0, version == OsdVersion.OSD_1 ? 4 + 8 * 100_000 : 1 << 22),
                    "get list")).isTrue();
            zeros.set(ValueLayout.JAVA_BYTE, 0, (byte) 9);
            assertThat(Allocation.decode(bytes -> SetAttributesList.decode(bytes, version),
                    zeros.asSlice(0, version == OsdVersion.OSD_1 ? 4 + 10 * 100_000 : 8 + 1600),
                    "set list")).isTrue();
        }
    }
}
