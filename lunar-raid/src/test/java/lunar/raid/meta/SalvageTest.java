package lunar.raid.meta;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import lunar.block.BlockRequest;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.RaidListener;
import lunar.raid.Rebuild;
import lunar.raid.SlotState;
import lunar.raid.WalkOptions;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rebuild that meets blocks which cannot be read: they are lost, known to be so, and nothing else is. */
class SalvageTest {
    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    /** Data blocks of the volume that cannot be had without these blocks of a member, and without a slot. */
    private static Set<Integer> lost(Layout layout, int bad, BitSet blocks, int rebuilt) {
        var lost = new HashSet<Integer>();
        for (long stripe = 0; stripe < layout.stripes(); stripe++) {
            int first = layout.unit(stripe, bad);
            int second = layout.unit(stripe, rebuilt);
            for (int at = 0; at < layout.chunkBlocks() && first >= 0 && second >= 0; at++) {
                if (!blocks.get((int) layout.memberBlock(stripe, first) + at)) {
                    continue;
                }
                int block = (int) stripe * layout.stripeBlocks() + at;
                if (!layout.code().isParity()) {
                    lost.add(block);
                    continue;
                }
                for (int unit : new int[]{first, second}) {
                    if (unit < layout.dataUnits()) {
                        lost.add(block + unit * layout.chunkBlocks());
                    }
                }
            }
        }
        return lost;
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID10"})
    void shouldGoOnAndSayWhatIsLost(Level level) throws StorageException {
        for (int run = 0; run < 20; run++) {
            run(level, run);
        }
    }

    private void run(Level level, int run) throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level + " run " + run, random);
        var told = new ArrayList<Long>();
        test.listener = new RaidListener() {
            @Override
            public void rebuilt(int slot, long lostBlocks) { told.add(lostBlocks); }
        };
        int count = level == Level.RAID1 ? 2 : 4;
        test.create(level, count, 1);
        test.open();
        test.resync();
        test.fill();
        test.fail(1);
        int bad = level == Level.RAID1 || level == Level.RAID10 ? 0 : random.nextInt(2) * 2;
        var blocks = new BitSet();
        for (int i = random.nextInt(4); i >= 0; i--) {
            blocks.set(random.nextInt((int) (TestVolume.STRIPES * 8L)));
        }
        blocks.stream().forEach(at -> test.disks.get(bad)
                .spoil(test.metadata.dataOffset() + at, 1));
        Set<Integer> lost = lost(test.layout(), bad, blocks, 1);

        Rebuild rebuild = test.volume.replace(1, test.metadata.takeSpare(1).orElseThrow(),
                test.metadata.dataOffset(), WalkOptions.DEFAULT);
        test.settle();
        assertThat(rebuild.failure()).as(test.title()).isNull();
        assertThat(test.volume.state().slots()).as(test.title()).containsOnly(SlotState.ACTIVE);
        assertThat(rebuild.lostBlocks()).as(test.title()).isEqualTo(lost.size());
        assertThat(told).as(test.title()).containsExactly((long) lost.size());
        checkAllBut(test, lost);
        test.stop();
        test.open();
        checkAllBut(test, lost);
        test.checkRedundancy();
        // Another member less: nothing may be computed from what was lost.
        test.fail(level.hasParity() ? 3 : 2 % count);
        checkAllBut(test, lost);

        for (int block : lost) {
            MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
            data.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 7);
            assertThat(test.does(new BlockRequest().asWrite(block, 1, data, true)))
                    .as(test.title()).isNull();
            assertThat(test.does(new BlockRequest().asRead(block, 1, data))).as(test.title())
                    .isNull();
            assertThat(data.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(7);
        }
        assertThat(test.metadata.badBlocks().ranges()).as(test.title()).isEmpty();
        test.close();
    }

    private static void checkAllBut(TestVolume test, Set<Integer> lost) {
        for (int block = 0; block < test.volume.blockCount(); block++) {
            MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
            StorageException failure = test.does(new BlockRequest().asRead(block, 1, data));
            if (lost.contains(block)) {
                assertThat(failure).as(test.title() + " block " + block)
                        .isInstanceOf(MediumException.class);
            } else {
                assertThat(failure).as(test.title() + " block " + block).isNull();
                test.checkBlock(block, data);
            }
        }
    }
}
