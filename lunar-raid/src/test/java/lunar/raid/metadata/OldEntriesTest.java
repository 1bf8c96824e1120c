package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Identity;
import lunar.block.LostWritesException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.RaidOptions;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.CachedDisk.Power;
import lunar.raid.metadata.record.Consistency;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Entries of the journal whose writes are not in place any more, since members have lost their caches, had no space, or
 * were repaired: after a crash, replayed beneath later entries, they would give parity that is not that of the data.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OldEntriesTest {
    private static final int BLOCK = SteppedDevice.BLOCK_BYTES;
    private static final int CHUNK_BLOCKS = 8;
    private static final int DISK_BLOCKS = 4096 + 8 * CHUNK_BLOCKS;
    private static final long STRIPE = 5;
    private static final int RUNS = 150;

    private List<CachedDisk> disks = new ArrayList<>();
    private Power power = new Power();
    private VolumeMetadata metadata;
    private VolumeEngine volume;

    /** A volume of zeroes, with nothing in its journal. */
    private void create(int count) throws StorageException {
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < count; i++) {
            disks.add(new CachedDisk(new SteppedDevice(DISK_BLOCKS), power));
            members.add(new Creation.Member("disk:" + i, Volumes.member(i), disks.get(i)));
        }
        Creation.create(new Creation.Wish(Volumes.VOLUME, "music", 0, Level.RAID5,
                Consistency.JOURNAL, CHUNK_BLOCKS * BLOCK, 0, Volumes.KEY, null), members, false);
        open(-1);
        resync();
        metadata.stop(failure -> assertThat(failure).isNull());
        restart(null);
    }

    private void open(int missing) throws StorageException {
        var candidates = new ArrayList<Candidate>();
        var devices = new ArrayList<@Nullable BlockDevice>();
        for (int slot = 0; slot < disks.size(); slot++) {
            candidates.add(slot == missing
                    ? Candidate.unreachable("disk:" + slot, "lost")
                    : Candidate.of("disk:" + slot, disks.get(slot)));
            devices.add(slot == missing ? null : disks.get(slot));
        }
        Outcome outcome = Assembly.of(candidates, DegradedStart.FORCED);
        assertThat(outcome).isInstanceOf(Outcome.Assembled.class);
        metadata = VolumeMetadata.open(((Outcome.Assembled) outcome).composition(),
                new VolumeDevices(devices, List.of(), null), OpenOptions.DEFAULT,
                (slot, why) -> volume.fail(slot, why));
        volume = VolumeEngine.of(metadata.record().shape(), metadata.raidMembers(),
                RaidOptions.of(Identity.of("raid", Volumes.VOLUME)).withPauses(Runnable::run)
                        .withGuard(metadata).withKeeper(metadata)
                        .withBadBlocks(metadata.badBlocks()).withStale(metadata.stale()),
                metadata.reshaping());
    }

    /** Machine and disks are without power for a moment. */
    private void restart(@Nullable Random random) {
        power = new Power();
        disks = new ArrayList<>(
                disks.stream().map(disk -> disk.afterCrash(random, power)).toList());
    }

    private void resync() {
        volume.resync(ScanOptions.DEFAULT);
        assertThat(volume.state().resyncedStripes()).isEmpty();
    }

    /** The first block of a unit. */
    private long block(int unit) {
        Layout layout = volume.layout();
        return STRIPE * layout.stripeBlocks() + (long) unit * layout.chunkBlocks();
    }

    private long onMember(long stripe, int unit) {
        return metadata.dataOffset() + volume.layout().memberBlock(stripe, unit);
    }

    private CachedDisk disk(long stripe, int unit) {
        return disks.get(volume.layout().slot(stripe, unit));
    }

    private void write(int unit, int content) throws StorageException {
        volume.write(block(unit),
                MemorySegment.ofArray(new byte[BLOCK]).fill((byte) content));
    }

    private int content(int unit) throws StorageException {
        MemorySegment content = MemorySegment.ofArray(new byte[BLOCK]);
        volume.read(block(unit), content);
        return content.get(JAVA_BYTE, 7);
    }

    /** Whether the parity of a stripe is that of its data. */
    private boolean isConsistent(long stripe) throws StorageException {
        byte[] sum = new byte[CHUNK_BLOCKS * BLOCK];
        byte[] content = new byte[sum.length];
        boolean isZero = true;
        for (int unit = 0; unit < volume.layout().units(); unit++) {
            disk(stripe, unit).read(onMember(stripe, unit), MemorySegment.ofArray(content));
            for (int i = 0; i < sum.length; i++) {
                sum[i] ^= content[i];
            }
        }
        for (byte one : sum) {
            isZero &= one == 0;
        }
        return isZero;
    }

    /** After a crash no resync is due, and none is needed. */
    private void requireConsistentAfterCrash() throws StorageException {
        restart(null);
        open(-1);
        assertThat(metadata.stale().next(0)).isEqualTo(StripeSet.NONE);
        assertThat(isConsistent(STRIPE)).isTrue();
    }

    /** Reads a unit while its member is lost; everything else stays as it is. */
    private int contentFromOthers(int unit) throws StorageException {
        List<CachedDisk> now = disks;
        Power its = new Power();
        disks = new ArrayList<>(now.stream().map(disk -> disk.copy(its)).toList());
        open(volume.layout().slot(STRIPE, unit));
        int content = content(unit);
        disks = now;
        return content;
    }

    // --- members lose their caches ---

    /** A write that is lost on all members, and a later one to another unit of the same row. */
    private void loseAWriteAndGoOn() throws StorageException {
        int _ = content(2); // meets the loss
        resync();
        write(1, 7);
        assertThatThrownBy(volume::flush).isInstanceOf(LostWritesException.class);
        volume.flush();
    }

    @Test
    void shouldNotReplayWhatMembersHaveLostBeneathLaterWrites() throws Exception {
        create(4);
        open(-1);
        write(0, 3);
        disks.forEach(disk -> disk.loseCache(null));
        loseAWriteAndGoOn();
        requireConsistentAfterCrash();
        assertThat(content(0)).isZero();
        assertThat(content(1)).isEqualTo(7);
        assertThat(contentFromOthers(1)).isEqualTo(7);
    }

    /** A write has read a part of its stripe before the loss, and the rest of it afterwards. */
    @Test
    void shouldNotReplayParityOfWhatWasReadBeforeALoss() throws Exception {
        create(4);
        open(-1);
        write(0, 3);
        disks.forEach(CachedDisk::hasQueue);
        var random = new Random(1);
        var ended = new ArrayList<@Nullable StorageException>();
        volume.submit(new BlockRequest()
                .asWrite(block(1), 1, MemorySegment.ofArray(new byte[BLOCK]).fill((byte) 7), false)
                .onCompletion((_, failure) -> ended.add(failure)));
        boolean isRead = disk(STRIPE, 0).step(random)
                || disk(STRIPE, volume.layout().dataUnits()).step(random);
        assertThat(isRead).isTrue();
        disks.forEach(disk -> disk.loseCache(null));
        settle(random);
        volume.resync(ScanOptions.DEFAULT);
        settle(random);
        assertThat(volume.state().resyncedStripes()).isEmpty();
        assertThat(ended).containsExactly((StorageException) null);
        requireConsistentAfterCrash();
        assertThat(content(1)).isEqualTo(7);
    }

    private void settle(Random random) {
        boolean any = true;
        while (any) {
            any = false;
            for (CachedDisk disk : disks) {
                any |= disk.step(random);
            }
        }
    }

    /** The power goes off after each request in turn. */
    @Test
    void shouldKeepParityTrueWheneverACrashFollowsALoss() throws Exception {
        create(4);
        List<CachedDisk> blank = disks;
        boolean isCut = true;
        int ends = 0;
        for (int requests = 0; isCut; requests++) {
            power = new Power();
            disks = new ArrayList<>(blank.stream().map(disk -> disk.copy(power)).toList());
            open(-1);
            write(2, 5);
            volume.flush();
            write(0, 3);
            disks.forEach(disk -> disk.loseCache(null));
            power.cutAfter(requests);
            boolean isFlushed = false;
            try {
                loseAWriteAndGoOn();
                isFlushed = true;
            } catch (StorageException | AssertionError e) {
                if (!power.isOff()) {
                    throw e;
                }
            }
            isCut = power.isOff();
            restart(null);
            String title = "cut after " + requests;
            assertThat(contentFromOthers(1)).as(title).isIn(isFlushed ? 7 : 0, 7);
            assertThat(contentFromOthers(2)).as(title).isEqualTo(5);
            open(-1);
            ends += metadata.stale().next(0) == StripeSet.NONE ? 1 : 0;
            if (metadata.stale().next(0) != StripeSet.NONE) {
                resync();
            }
            assertThat(isConsistent(STRIPE)).as(title).isTrue();
            assertThat(content(0)).as(title).isIn(0, 3);
            assertThat(content(1)).as(title).isIn(isFlushed ? 7 : 0, 7);
            assertThat(content(2)).as(title).isEqualTo(5);
        }
        assertThat(ends).isGreaterThan(1);
    }

    /** Requests in any order, some of which are under way when caches are lost, and when the power goes off. */
    @Test
    void shouldKeepParityTrueThoughCachesAreLostWhileWritesAreUnderWay() throws Exception {
        assertThat(playAll(true)).isGreaterThan(RUNS / 2);
    }

    /** Blocks get space, and have none any more, while requests are under way. */
    @Test
    void shouldKeepParityTrueThoughMembersHaveNoSpaceWhileWritesAreUnderWay() throws Exception {
        assertThat(playAll(false)).isGreaterThan(RUNS / 2);
    }

    /** Returns how often caches were lost, or writes failed. */
    private int playAll(boolean losesCaches) throws StorageException {
        create(4);
        List<CachedDisk> blank = disks;
        var seeds = new Random(Seed.next());
        int faults = 0;
        for (int run = 0; run < RUNS; run++) {
            power = new Power();
            disks = new ArrayList<>(blank.stream().map(disk -> disk.copy(power)).toList());
            faults += play(seeds.nextLong(), losesCaches);
        }
        return faults;
    }

    private int play(long seed, boolean losesCaches) throws StorageException {
        var random = new Random(seed);
        open(-1);
        disks.forEach(CachedDisk::hasQueue);
        var host = new LossyHost(volume, random);
        for (int left = 100 + random.nextInt(900); left > 0; left--) {
            step(host, random, losesCaches);
        }
        assertThat(volume.state().slots()).as("seed %d", seed).containsOnly(SlotState.ACTIVE);
        restart(random);
        open(-1);
        if (metadata.stale().next(0) != StripeSet.NONE) {
            resync();
        }
        for (int stripe = 0; stripe < LossyHost.STRIPES; stripe++) {
            assertThat(isConsistent(stripe)).as("seed %d stripe %d", seed, stripe).isTrue();
        }
        for (int block = 0; block < host.blocks(); block++) {
            MemorySegment content = MemorySegment.ofArray(new byte[BLOCK]);
            volume.read(block, content);
            assertThat(host.contents(block)).as("seed %d block %d", seed, block)
                    .contains(content.get(JAVA_LONG_UNALIGNED, 0));
        }
        return losesCaches ? host.losses() : host.failures();
    }

    private void step(LossyHost host, Random random, boolean losesCaches) {
        int what = random.nextInt(300);
        if (what == 0 && losesCaches) {
            host.lost();
            disks.forEach(disk -> disk.loseCache(random));
        } else if (what < 3 && !losesCaches) {
            disks.get(random.nextInt(disks.size())).without.flip((int) metadata.dataOffset()
                    + random.nextInt(LossyHost.STRIPES * CHUNK_BLOCKS));
        } else if (what < 7) {
            host.flush();
        } else if (what < 30) {
            host.write();
        } else if (what == 30) {
            metadata.tick();
        } else if (what < 40 && !volume.engine().hasScans()
                && volume.state().resyncedStripes().isPresent()) {
            volume.resync(ScanOptions.DEFAULT);
        } else {
            boolean _ = disks.get(random.nextInt(disks.size())).step(random);
        }
    }

    // --- a scrub repairs parity ---

    @Test
    void shouldNotReplayParityThatAScrubHasRepaired() throws Exception {
        create(5);
        open(-1);
        int parity = volume.layout().dataUnits();
        disk(STRIPE, parity).rot(onMember(STRIPE, parity));
        write(0, 3); // its parity is computed from that
        volume.flush();
        assertThat(isConsistent(STRIPE)).isFalse();
        Scrub scrub = volume.scrub(true, ScanOptions.DEFAULT);
        assertThat(scrub.hasEnded()).isTrue();
        assertThat(scrub.mismatches()).isEqualTo(1);
        assertThat(isConsistent(STRIPE)).isTrue();
        requireConsistentAfterCrash();
        assertThat(content(0)).isEqualTo(3);
    }

    // --- members have no space ---

    /** Blocks of a unit's first row. */
    private void setSpace(int unit, boolean isThere) {
        disk(STRIPE, unit).without.set((int) onMember(STRIPE, unit), !isThere);
    }

    @Test
    void shouldNotReplayWhatWasPutBackBeneathLaterWrites() throws Exception {
        create(4);
        open(-1);
        setSpace(0, false);
        assertThatThrownBy(() -> write(0, 3)).isInstanceOf(NoSpaceException.class);
        assertThat(isConsistent(STRIPE)).isTrue();
        write(1, 7);
        requireConsistentAfterCrash(); // and there is space
        assertThat(content(1)).isEqualTo(7);
        assertThat(contentFromOthers(1)).isEqualTo(7);
    }

    /** What was put back is what a crash leaves without a later write, or the write that failed. */
    @Test
    void shouldReplayWhatWasPutBackAsAWhole() throws Exception {
        create(4);
        open(-1);
        setSpace(0, false);
        assertThatThrownBy(() -> write(0, 3)).isInstanceOf(NoSpaceException.class);
        requireConsistentAfterCrash();
        assertThat(content(0)).isIn(0, 3);
    }

    /** Data and parity had no space, so that a resync has made the redundancy true again. */
    @Test
    void shouldNotReplayWhatWasHalfWrittenBeneathLaterWrites() throws Exception {
        create(4);
        open(-1);
        int parity = volume.layout().dataUnits();
        setSpace(0, false);
        setSpace(parity, false);
        MemorySegment data = MemorySegment.ofArray(new byte[2 * CHUNK_BLOCKS * BLOCK])
                .fill((byte) 3);
        assertThatThrownBy(() -> volume.write(block(0), data))
                .isInstanceOf(NoSpaceException.class);
        assertThat(isConsistent(STRIPE)).isFalse();
        setSpace(parity, true);
        resync();
        assertThat(isConsistent(STRIPE)).isTrue();
        write(2, 7);
        requireConsistentAfterCrash();
        assertThat(content(2)).isEqualTo(7);
        assertThat(contentFromOthers(2)).isEqualTo(7);
    }
}
