package lunar.raid.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import lunar.raid.layout.ReshapeMap.Window;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReshapeMapTest {
    private static final int ROUNDS = 200;

    private final long seed = Seed.next();

    /** Where a block is, and by which layout. */
    private record Place(int slot, long memberBlock) {}

    private static Place place(Layout layout, long block) {
        return places(layout, block).getFirst();
    }

    /** Of copies, all. */
    private static List<Place> places(Layout layout, long block) {
        long stripe = block / layout.stripeBlocks();
        int unit = (int) (block % layout.stripeBlocks() / layout.chunkBlocks());
        int last = layout.code() == Code.COPIES ? layout.units() - 1 : unit;
        return IntStream.rangeClosed(unit, last)
                .mapToObj(one -> new Place(layout.slot(stripe, one),
                        layout.memberBlock(stripe, one) + block % layout.chunkBlocks()))
                .toList();
    }

    private static void put(Map<Place, Long> members, Layout layout, long block, long content) {
        places(layout, block).forEach(place -> members.put(place, content));
    }

    /** Blocks are moved in memory, window by window, and nothing may be written over that is still needed. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6", "RAID10"})
    void shouldMoveEachBlockBeforeItIsWrittenOver(Level level) {
        var random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            int slots = level.minMembers() + random.nextInt(5);
            int more = 1 + random.nextInt(2);
            long rows = 1 + random.nextInt(40);
            Shape shape = Shape.of(level, 4096, 1, slots + more, rows);
            var map = ReshapeMap.of(shape, slots);
            int most = 1 + random.nextInt(12);
            int staging = map.step() + random.nextInt(6);
            walk(map, most, staging, "seed %d round %d: %s, %d and %d members, %d rows, %d of %d"
                    .formatted(seed, round, level, slots, more, rows, most, staging));
        }
    }

    private static void walk(ReshapeMap map, int most, int staging, String title) {
        long blocks = map.before().volumeBlocks();
        Map<Place, Long> members = new HashMap<>();
        for (long block = 0; block < blocks; block++) {
            put(members, map.before(), block, block);
        }
        long row = 0;
        while (row < map.rows()) {
            Window window = map.next(row, most, staging);
            assertThat(window.from()).as(title).isEqualTo(row);
            assertThat(window.rows()).as(title).isPositive()
                    .isLessThanOrEqualTo(Math.max(map.step(), most));
            if (window.isStaged()) {
                assertThat(window.rows()).as(title).isLessThanOrEqualTo(staging);
            }
            move(map, window, members, title);
            row = window.end();
            // Requests that use the old layout from here on do not touch the new rows.
            assertThat(map.firstRow(map.blocks(row))).as(title).isGreaterThanOrEqualTo(row);
            check(map, map.blocks(row), members, title);
        }
        assertThat(map.blocks(row)).as(title).isEqualTo(blocks);
        assertThat(map.stripes(row)).as(title).isEqualTo(map.after().stripes());
    }

    private static void move(ReshapeMap map, Window window, Map<Place, Long> members,
            String title) {
        long from = map.blocks(window.from());
        long end = map.blocks(window.end());
        var read = new HashMap<Long, Long>();
        for (long block = from; block < end; block++) {
            read.put(block, members.get(place(map.before(), block)));
        }
        Layout after = map.after();
        for (long stripe = map.stripes(window.from()); stripe < map
                .stripes(window.end()); stripe++) {
            for (int unit = 0; unit < after.units(); unit++) {
                var place = new Place(after.slot(stripe, unit), after.memberBlock(stripe, unit));
                assertThat(place.memberBlock()).as(title)
                        .isBetween(window.from(), window.end() - 1);
                if (!window.isStaged()) { // a crash now leads back to the old places
                    Long lost = members.get(place);
                    assertThat(lost == null || lost < from).as(title + " writes over " + lost)
                            .isTrue();
                }
            }
        }
        members.keySet().removeIf(place -> place.memberBlock() >= window.from()
                && place.memberBlock() < window.end());
        for (long block = from; block < end; block++) {
            put(members, after, block, read.get(block));
        }
    }

    private static void check(ReshapeMap map, long boundary, Map<Place, Long> members,
            String title) {
        for (long block = 0; block < map.before().volumeBlocks(); block++) {
            Layout layout = block < boundary ? map.after() : map.before();
            for (Place place : places(layout, block)) {
                assertThat(members.get(place)).as(title + " block " + block).isEqualTo(block);
            }
        }
    }
}
