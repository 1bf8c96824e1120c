package lunar.raid.metadata;

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
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rebuild that meets blocks which cannot be read: they are lost, known to be so, and nothing else is. */
class PartialRecoveryTest {
    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    /** Members of which some blocks cannot be read, at the same places, and what that makes of the volume. */
    private static final class Damage {
        private final BitSet blocks = new BitSet();
        private final Set<Integer> lost = new HashSet<>();

        /** Spoils so many members that no block at these places can be had once slot 1 is lost. */
        Damage(TestVolume test, Level level) {
            for (int i = test.random.nextInt(4); i >= 0; i--) {
                blocks.set(test.random.nextInt(TestVolume.STRIPES * 8));
            }
            int[] bad = level == Level.RAID6 ? new int[]{0, 2} : new int[]{0};
            for (int slot : bad) {
                spoil(test, slot, blocks);
            }
            if (level == Level.RAID6) { // these can be computed by the second parity
                var single = new BitSet();
                single.set(test.random.nextInt(TestVolume.STRIPES * 8));
                single.andNot(blocks);
                spoil(test, 3, single);
            }
            find(test.layout(), bad);
        }

        /** Adds what else may be lost where another slot fails. */
        Set<Integer> lostWithout(Layout layout, int slot) {
            find(layout, slot);
            return lost;
        }

        private void find(Layout layout, int... bad) {
            for (long stripe = 0; stripe < layout.stripes(); stripe++) {
                for (int at = 0; at < layout.chunkBlocks(); at++) {
                    find(layout, stripe, at, bad);
                }
            }
        }

        private static void spoil(TestVolume test, int slot, BitSet blocks) {
            blocks.stream().forEach(at -> test.disks.get(slot)
                    .spoil(test.metadata.dataOffset() + at, 1));
        }

        private void find(Layout layout, long stripe, int at, int[] bad) {
            int rebuilt = layout.unit(stripe, 1);
            int block = (int) stripe * layout.stripeBlocks() + at;
            for (int slot : bad) {
                int unit = layout.unit(stripe, slot);
                if (unit < 0 || rebuilt < 0
                        || !blocks.get((int) layout.memberBlock(stripe, unit) + at)) {
                    continue;
                }
                if (!layout.code().isParity()) {
                    lost.add(block);
                    continue;
                }
                for (int one : new int[]{unit, rebuilt}) {
                    if (one < layout.dataUnits()) {
                        lost.add(block + one * layout.chunkBlocks());
                    }
                }
            }
        }
    }

    private TestVolume failed(Level level, String title) throws StorageException {
        var test = new TestVolume("seed " + seed + " " + level + title, random);
        test.create(level, level == Level.RAID1 ? 2 : 4, 1);
        test.open();
        test.resync();
        test.fill();
        test.fail(1);
        test.stop(); // in order, so that the journal begins anew
        test.open();
        return test;
    }

    private static Rebuild rebuild(TestVolume test) throws StorageException {
        Rebuild rebuild = test.volume.replace(1, test.metadata.takeSpare(1).orElseThrow(),
                test.metadata.dataOffset(), ScanOptions.DEFAULT);
        test.settle();
        return rebuild;
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldGoOnAndSayWhatIsLost(Level level) throws StorageException {
        for (int run = 0; run < 20; run++) {
            run(level, run);
        }
    }

    private void run(Level level, int run) throws StorageException {
        var told = new ArrayList<Long>();
        TestVolume test = failed(level, " run " + run);
        var damage = new Damage(test, level);
        Set<Integer> lost = damage.lost;
        test.listener = new RaidListener() {
            @Override
            public void rebuilt(int slot, long lostBlocks) { told.add(lostBlocks); }
        };
        test.stop();
        test.open();
        Rebuild rebuild = rebuild(test);
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
        test.fail(level == Level.RAID1 ? 0 : 3);
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

    /** The power is cut while a rebuild saves what it can: what is not lost is never lost, and what is, is known. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6"})
    void shouldKnowWhatIsLostAfterACutAtAnyMoment(Level level) throws StorageException {
        int cuts = 0;
        for (int victim = 0; victim < (level == Level.RAID1 ? 3 : 5); victim++) {
            boolean isCut = victim != 1; // the disk that has failed
            for (int after = 0; isCut; after += 1 + random.nextInt(2)) {
                TestVolume test = failed(level, " disk " + victim + " cut at " + after);
                Set<Integer> lost = new Damage(test, level).lost;
                test.disks.get(victim).cutAfter(after);
                try {
                    rebuild(test);
                } catch (StorageException e) {
                    assertThat(test.isCut()).as(test.title() + e).isTrue();
                }
                isCut = test.isCut();
                cuts += isCut ? 1 : 0;
                test.restart();
                test.open();
                checkAllBut(test, lost);
                test.resync();
                test.makeWhole();
                checkAllBut(test, lost);
                test.checkRedundancy();
                test.fail(level == Level.RAID1 ? 0 : 3);
                checkAllBut(test, lost);
                test.close();
            }
        }
        assertThat(cuts).isGreaterThan(20);
    }

    /** Lost blocks are zeroed, for which other members are read: one of these members fails in that moment. */
    @Test
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldEndThoughAnotherMemberFailsMeanwhile() throws StorageException {
        int more = 0;
        for (int after = 0; after < 400; after += 1 + random.nextInt(4)) {
            TestVolume test = failed(Level.RAID6, " disk 3 fails after " + after);
            Set<Integer> most = new Damage(test, Level.RAID6).lostWithout(test.layout(), 3);
            Rebuild rebuild = test.volume.replace(1, test.metadata.takeSpare(1).orElseThrow(),
                    test.metadata.dataOffset(), ScanOptions.DEFAULT);
            for (int i = 0; i < after; i++) {
                test.step();
            }
            more += rebuild.hasEnded() ? 0 : 1;
            test.disks.get(3).breakDown();
            test.settle();
            assertThat(rebuild.hasEnded()).as(test.title()).isTrue();
            for (int block = 0; block < test.volume.blockCount(); block++) {
                MemorySegment data = MemorySegment.ofArray(new byte[TestVolume.BLOCK]);
                if (!most.contains(block)) {
                    assertThat(test.does(new BlockRequest().asRead(block, 1, data)))
                            .as(test.title() + " block " + block).isNull();
                    test.checkBlock(block, data);
                }
            }
            test.close();
        }
        assertThat(more).as("rebuilds that were under way").isGreaterThan(20);
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
