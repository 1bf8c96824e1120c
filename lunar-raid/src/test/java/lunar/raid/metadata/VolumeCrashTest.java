package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.RaidOptions;
import lunar.raid.ScanOptions;
import lunar.raid.SlotState;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.PowerCutDevice;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Volumes on disks with volatile caches, from creation on: written, cut off from power at any moment, put together from
 * what is on the disks, with one of them lost at times, and rebuilt. What was flushed is there, what was written since
 * is there or not, block by block; only blocks that are listed as bad may be neither. Redundancy is true as soon as the
 * volume is put together again (with a journal) or after the dirty regions have been compared (with a bitmap).
 */
class VolumeCrashTest {
    private static final int CHUNK_BYTES = 4096;
    private static final int BLOCK = 512;
    private static final int MEMBER_DATA_BYTES = 12 * CHUNK_BYTES;
    private static final int RUNS = 30;
    private static final int MAX_WRITES = 8;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private int run;
    private Level level;
    private List<QueuedDevice> disks;
    private List<UUID> uuids;
    private Composition composition;
    private VolumeMetadata metadata;
    private VolumeEngine volume;
    private Layout layout;
    private int blocks;
    private long version;
    /** By block: what was flushed last, and what was written since and may be there. */
    private long[] flushed;
    private long[] written;
    private boolean[] busy;
    private boolean[] wasBad;
    private int inFlight;
    private int lost;
    private int replayed;
    private int rebuilt;
    private int cameBack;

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldHaveWhatWasFlushedAfterCrashes(Level which) throws StorageException {
        level = which;
        create();
        for (run = 0; run < RUNS; run++) {
            assemble(-1);
            resync();
            work();
            int missing = run % 3 == 0 ? random.nextInt(disks.size()) : -1;
            cut();
            if (random.nextInt(3) == 0) {
                crashWhileOpening(missing);
            }
            assemble(missing);
            checkContent();
            if (missing >= 0 && run % 2 == 0) {
                replace(missing);
            } else if (missing >= 0) {
                comeBack(missing);
            }
            resync();
            checkContent();
            checkRedundancy();
            stop();
        }
        assertThat(lost).as(what()).isEqualTo(RUNS / 3);
        assertThat(rebuilt).as(what()).isEqualTo(lost);
        assertThat(cameBack).as(what()).isPositive();
        if (level.hasParity()) {
            assertThat(replayed).as(what()).isGreaterThan(RUNS);
        }
    }

    private String what() { return "seed " + seed + " " + level + " run " + run; }

    private void create() throws StorageException {
        int count = level == Level.RAID1 ? 2 : level == Level.RAID6 ? 5 : 4;
        int bytes = (level.hasParity() ? 2 << 20 : 1 << 20) + MEMBER_DATA_BYTES;
        disks = new ArrayList<>();
        uuids = new ArrayList<>();
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < count; i++) {
            disks.add(QueuedDevice.create(bytes, random));
            uuids.add(uuid());
            members.add(new Creation.Member("disk:" + i, uuids.get(i), disks.get(i)));
        }
        var wish = new Creation.Wish(uuid(), "music", 0, level, Creation.consistencyOf(level),
                CHUNK_BYTES, 0, uuid(), null);
        VolumeRecord record = Creation.create(wish, members, false);
        blocks = (int) record.description().volumeBlocks();
        flushed = new long[blocks];
        written = new long[blocks];
        busy = new boolean[blocks];
        wasBad = new boolean[blocks];
    }

    private UUID uuid() { return new UUID(random.nextLong() | 1, random.nextLong()); }

    private List<BlockDevice> compose(int missing) {
        var candidates = new ArrayList<Candidate>();
        for (int slot = 0; slot < disks.size(); slot++) {
            candidates.add(slot == missing
                    ? Candidate.unreachable("disk:" + slot, "lost")
                    : Candidate.of("disk:" + slot, disks.get(slot)));
        }
        Outcome outcome = Assembly.of(candidates, DegradedStart.FORCED);
        assertThat(outcome).as(what()).isInstanceOf(Outcome.Assembled.class);
        composition = ((Outcome.Assembled) outcome).composition();
        var devices = new ArrayList<BlockDevice>();
        for (Composition.Slot slot : composition.slots()) {
            devices.add(slot.candidate().isEmpty() ? null : disks.get(slot.candidate().getAsInt()));
        }
        return devices;
    }

    private void assemble(int missing) throws StorageException {
        List<BlockDevice> devices = compose(missing);
        assertThat(composition.inSync()).as(what() + ": " + composition.slots())
                .isEqualTo(Layout.all(disks.size()) & (missing < 0 ? -1 : ~(1L << missing)));
        open(devices);
    }

    private void open(List<BlockDevice> devices) throws StorageException {
        metadata = VolumeMetadata.open(composition,
                new VolumeDevices(devices, List.of(), null), OpenOptions.DEFAULT,
                (slot, why) -> volume.fail(slot, why));
        replayed += metadata.replayed();
        volume = VolumeEngine.of(metadata.record().shape(), metadata.raidMembers(),
                RaidOptions.of(Identity.of("raid", metadata.record().description().uuid()))
                        .withGuard(metadata).withKeeper(metadata)
                        .withBadBlocks(metadata.badBlocks())
                        .withStale(metadata.stale()));
        layout = volume.layout();
        Arrays.fill(busy, false);
        inFlight = 0;
    }

    private void resync() {
        var ended = new boolean[1];
        volume.resync(ScanOptions.DEFAULT.withOnEnd(_ -> ended[0] = true));
        QueuedDevice.settle(disks, random);
        assertThat(ended[0]).as(what()).isTrue();
        assertThat(volume.state().resyncedStripes()).as(what()).isEmpty();
    }

    private void work() throws StorageException {
        int victim = random.nextInt(disks.size());
        int steps = random.nextInt(1500);
        disks.get(victim).cutAfter(random.nextBoolean() ? random.nextInt(400) : Long.MAX_VALUE);
        for (int i = 0; i < steps && disks.stream().noneMatch(QueuedDevice::isCut); i++) {
            int choice = random.nextInt(60);
            if (choice == 0) {
                metadata.tick();
            } else if (choice == 1) {
                flush();
            } else if (choice < 16 && inFlight < MAX_WRITES) {
                write();
            } else {
                QueuedDevice disk = disks.get(random.nextInt(disks.size()));
                if (disk.pending() > 0) {
                    disk.step(random);
                }
            }
        }
    }

    private void write() {
        int stripeBlocks = layout.stripeBlocks();
        boolean whole = random.nextInt(3) == 0;
        int first = random.nextInt(blocks);
        int count = 1 + random.nextInt(2 * stripeBlocks);
        if (whole) {
            first = first / stripeBlocks * stripeBlocks;
            count = stripeBlocks * (1 + random.nextInt(2));
        }
        count = Math.min(count, blocks - first);
        for (int block = first; block < first + count; block++) {
            if (busy[block]) {
                return;
            }
        }
        version++;
        long mine = version;
        MemorySegment data = MemorySegment.ofArray(new byte[count * BLOCK]);
        for (long at = 0; at < data.byteSize(); at += Long.BYTES) {
            data.set(JAVA_LONG_UNALIGNED, at, mine);
        }
        Arrays.fill(busy, first, first + count, true);
        inFlight++;
        int from = first;
        int end = first + count;
        Arrays.fill(written, from, end, mine);
        boolean fua = random.nextInt(4) == 0;
        volume.submit(new BlockRequest().asWrite(from, count, data, fua)
                .onCompletion((_, failure) -> {
                    if (failure == null) {
                        Arrays.fill(busy, from, end, false);
                        inFlight--;
                        if (fua) {
                            Arrays.fill(flushed, from, end, mine);
                        }
                    }
                }));
    }

    private void flush() {
        long[] then = new long[blocks];
        for (int block = 0; block < blocks; block++) {
            then[block] = busy[block] ? 0 : written[block];
        }
        volume.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
            for (int block = 0; failure == null && block < blocks; block++) {
                flushed[block] = Math.max(flushed[block], then[block]);
            }
        }));
    }

    private void cut() { disks.replaceAll(disk -> disk.afterCut(Long.MAX_VALUE)); }

    private void crashWhileOpening(int missing) throws StorageException {
        int victim = random.nextInt(disks.size());
        disks.get(victim).cutAfter(random.nextInt(80));
        try {
            List<BlockDevice> devices = compose(missing);
            if (disks.stream().anyMatch(QueuedDevice::isCut)) { // it would be noted as failed
                cut();
                return;
            }
            open(devices);
            metadata.tick();
            for (int i = random.nextInt(50); i > 0; i--) {
                QueuedDevice disk = disks.get(random.nextInt(disks.size()));
                if (disk.pending() > 0 && disks.stream().noneMatch(QueuedDevice::isCut)) {
                    disk.step(random);
                }
            }
        } catch (StorageException | AssertionError _) {
            // The cut came while it was put together.
        }
        cut();
    }

    private void checkContent() {
        MemorySegment data = MemorySegment.ofArray(new byte[BLOCK]);
        for (int block = 0; block < blocks; block++) {
            var end = new ArrayList<StorageException>();
            volume.submit(new BlockRequest().asRead(block, 1, data)
                    .onCompletion((_, failure) -> end.add(failure)));
            QueuedDevice.settle(disks, random);
            assertThat(end).as(what() + " block " + block).hasSize(1);
            if (!isBad(block)) {
                assertThat(end).as(what() + " block " + block).containsOnlyNulls();
                long found = data.get(JAVA_LONG_UNALIGNED, 504);
                assertThat(found).as(what() + " block " + block).isBetween(flushed[block],
                        written[block]);
                flushed[block] = found;
                written[block] = found;
                wasBad[block] = false;
            } else {
                assertThat(end.getFirst()).isInstanceOf(MediumException.class);
                assertThat(wasBad[block] || written[block] > flushed[block])
                        .as(what() + " block " + block + ": bad and not being written").isTrue();
                wasBad[block] = true;
            }
        }
    }

    private boolean isBad(int block) {
        long stripe = block / layout.stripeBlocks();
        int unit = block % layout.stripeBlocks() / layout.chunkBlocks();
        long at = layout.memberBlock(stripe, unit) + block % layout.chunkBlocks();
        return metadata.badBlocks().overlaps(layout.slot(stripe, unit), at, 1);
    }

    private void replace(int slot) throws StorageException {
        lost++;
        assertThat(volume.state().slots().get(slot)).isEqualTo(SlotState.FAILED);
        disks.set(slot, new QueuedDevice(
                PowerCutDevice.create((int) disks.get(slot).sizeBytes(), random)));
        uuids.set(slot, uuid());
        metadata.admit(slot, disks.get(slot), uuids.get(slot), true);
        long offset = metadata.record().description().layout().dataBytes() / BLOCK;
        volume.replace(slot, disks.get(slot), offset, ScanOptions.DEFAULT);
        QueuedDevice.settle(disks, random);
        metadata.tick();
        QueuedDevice.settle(disks, random);
        assertThat(volume.state().slots()).as(what()).containsOnly(SlotState.ACTIVE);
        assertThat(metadata.record().isWhole()).as(what() + ": " + metadata.record()).isTrue();
        rebuilt++;
        mendBad();
    }

    /** The disk was away for a time only: it gets what was written meanwhile. */
    private void comeBack(int slot) throws StorageException {
        lost++;
        resync();
        work();
        cut();
        List<BlockDevice> devices = compose(-1);
        Composition.Slot found = composition.slots().get(slot);
        assertThat(found.use()).as(what() + ": " + composition).isIn(Use.STALE_COVERED, Use.STALE);
        open(devices);
        checkContent();
        boolean isNew = found.use() == Use.STALE;
        long offset = metadata.record().description().layout().dataBytes() / BLOCK;
        metadata.admit(slot, disks.get(slot), uuids.get(slot), isNew);
        if (isNew) {
            volume.replace(slot, disks.get(slot), offset, ScanOptions.DEFAULT);
        } else {
            cameBack++;
            volume.readmit(slot, disks.get(slot), offset, metadata::missed, ScanOptions.DEFAULT);
        }
        QueuedDevice.settle(disks, random);
        metadata.tick();
        QueuedDevice.settle(disks, random);
        assertThat(volume.state().slots()).as(what()).containsOnly(SlotState.ACTIVE);
        assertThat(metadata.record().isWhole()).as(what() + ": " + metadata.record()).isTrue();
        rebuilt++;
        mendBad();
    }

    /** The host writes blocks again that were lost. */
    private void mendBad() {
        for (int block = 0; block < blocks; block++) {
            if (isBad(block)) {
                version++;
                MemorySegment data = MemorySegment.ofArray(new byte[BLOCK]);
                data.set(JAVA_LONG_UNALIGNED, 504, version);
                written[block] = version;
                flushed[block] = version;
                var end = new ArrayList<StorageException>();
                volume.submit(new BlockRequest().asWrite(block, 1, data, true)
                        .onCompletion((_, failure) -> end.add(failure)));
                QueuedDevice.settle(disks, random);
                assertThat(end).as(what() + " block " + block).hasSize(1).containsOnlyNulls();
                assertThat(isBad(block)).isFalse();
            }
        }
        assertThat(metadata.badBlocks().ranges()).as(what()).isEmpty();
    }

    private void checkRedundancy() throws StorageException {
        long[][] content = new long[disks.size()][];
        long offset = metadata.record().description().layout().dataBytes() / BLOCK;
        int memberBlocks = (int) (long) volume.shape().memberBlocks().getFirst();
        for (int slot = 0; slot < disks.size(); slot++) {
            MemorySegment data = MemorySegment.ofArray(new byte[memberBlocks * BLOCK]);
            ChunkedTransfer.read(disks.get(slot), offset * BLOCK, data);
            content[slot] = data.toArray(JAVA_LONG_UNALIGNED);
        }
        for (int at = 0; at < content[0].length; at++) {
            long sum = 0;
            for (int slot = 0; slot < disks.size(); slot++) {
                sum ^= content[slot][at];
            }
            if (level == Level.RAID5 || level == Level.RAID1) {
                assertThat(sum).as(what() + " long " + at).isZero();
            }
        }
        var mismatches = volume.scrub(false, ScanOptions.DEFAULT);
        QueuedDevice.settle(disks, random);
        assertThat(mismatches.hasEnded()).isTrue();
        assertThat(mismatches.mismatches()).as(what()).isZero();
    }

    private void stop() throws StorageException {
        for (QueuedDevice disk : disks) {
            disk.flush();
        }
        if (random.nextBoolean()) {
            metadata.stop(failure -> assertThat(failure).isNull());
            QueuedDevice.settle(disks, random);
        }
        // Else the power is cut again, with nothing under way.
        cut();
    }
}
