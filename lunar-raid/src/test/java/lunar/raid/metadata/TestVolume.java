package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.RaidListener;
import lunar.raid.RaidOptions;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.SlotState;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.record.Consistency;

/** A volume with metadata on queued disks, for tests that stop it at any moment. */
final class TestVolume {
    static final int BLOCK = 512;
    static final int CHUNK_BYTES = 4096;
    static final int STRIPES = 6;

    final Random random;
    final List<QueuedDevice> disks = new ArrayList<>();
    final List<UUID> uuids = new ArrayList<>();
    OpenOptions options = OpenOptions.DEFAULT;
    RaidListener listener = RaidListener.NONE;
    DegradedStart degradedStart = DegradedStart.REFUSED;
    /** The device that has the journal; null where the members have it. Among the disks, too. */
    QueuedDevice journal;
    Composition composition;
    VolumeMetadata metadata;
    VolumeEngine volume;
    private final String title;
    /** Its consistency; null for the best that its level has. */
    Consistency consistency;
    /** Whether members keep checksums. */
    boolean checksums;
    int chunkBytes = CHUNK_BYTES;
    private long tag;

    TestVolume(String title, Random random) {
        this.title = title;
        this.random = random;
    }

    String title() { return title; }

    UUID uuid() { return new UUID(random.nextLong() | 1, random.nextLong()); }

    /** A disk more, with nothing on it. */
    int add(Level level, int stripes) {
        int bytes = (level.hasParity() ? 2 << 20 : 1 << 20) + (checksums ? 1 << 20 : 0)
                + stripes * chunkBytes;
        disks.add(QueuedDevice.create(bytes, random));
        uuids.add(uuid());
        return disks.size() - 1;
    }

    void create(Level level, int members, int spares) throws StorageException {
        var table = new ArrayList<Creation.Member>();
        for (int i = 0; i < members + spares; i++) {
            int disk = add(level, STRIPES);
            table.add(new Creation.Member("disk:" + i, uuids.get(disk), disks.get(disk)));
        }
        var wish = new Creation.Wish(uuid(), "music", 0, level,
                consistency == null ? Creation.consistencyOf(level) : consistency, chunkBytes, 0,
                uuid(), null, checksums);
        Creation.create(wish, table.subList(0, members),
                table.subList(members, members + spares), false);
    }

    Outcome assembly(int... missing) {
        var candidates = new ArrayList<Candidate>();
        for (int disk = 0; disk < disks.size(); disk++) {
            candidates.add(isIn(missing, disk)
                    ? Candidate.unreachable("disk:" + disk, "away")
                    : Candidate.of("disk:" + disk, disks.get(disk)));
        }
        return Assembly.of(candidates, degradedStart);
    }

    private static boolean isIn(int[] set, int one) {
        for (int each : set) {
            if (each == one) {
                return true;
            }
        }
        return false;
    }

    /** Puts it together from what is on the disks. */
    void open(int... missing) throws StorageException {
        Outcome outcome = assembly(missing);
        assertThat(outcome).as(title).isInstanceOf(Outcome.Assembled.class);
        composition = ((Outcome.Assembled) outcome).composition();
        metadata = VolumeMetadata.open(composition, devices(), options,
                (slot, why) -> volume.fail(slot, why));
        start();
    }

    VolumeDevices devices() {
        var slots = new ArrayList<BlockDevice>();
        for (Composition.Slot slot : composition.slots()) {
            slots.add(slot.candidate().isEmpty() ? null : disks.get(slot.candidate().getAsInt()));
        }
        var spares = new ArrayList<BlockDevice>();
        for (OptionalInt candidate : composition.spares()) {
            spares.add(candidate.isEmpty() ? null : disks.get(candidate.getAsInt()));
        }
        return new VolumeDevices(slots, spares, journal);
    }

    private void start() {
        volume = VolumeEngine.of(metadata.record().shape(), metadata.raidMembers(), raidOptions(),
                metadata.reshaping());
    }

    RaidOptions raidOptions() {
        return RaidOptions.of(Identity.of("raid", metadata.record().description().uuid()))
                .withPauses(Runnable::run)
                .withPolicy(options.policy()).withListener(listener).withGuard(metadata)
                .withKeeper(metadata).withBadBlocks(metadata.badBlocks())
                .withStale(metadata.stale());
    }

    boolean isCut() { return disks.stream().anyMatch(QueuedDevice::isCut); }

    /** Does what waits, and what comes of it, unless the power is cut in the middle. */
    void settle() {
        while (!isCut() && step()) {
            // goes on
        }
    }

    /** Performs a request that waits; returns false if none does. */
    boolean step() {
        var busy = disks.stream().filter(disk -> disk.pending() > 0).toList();
        if (!busy.isEmpty()) {
            busy.get(random.nextInt(busy.size())).step(random);
        }
        return !busy.isEmpty();
    }

    /** The power is cut, if it has not been, and is there again. */
    void restart() {
        disks.replaceAll(disk -> disk.afterCut(Long.MAX_VALUE));
    }

    void stop() {
        metadata.stop(failure -> assertThat(failure).as(title).isNull());
        settle();
        restart();
    }

    void resync() {
        volume.resync(ScanOptions.DEFAULT);
        settle();
        assertThat(volume.state().resyncedStripes()).as(title).isEmpty();
    }

    /** Writes every block, stripe by stripe; stable. */
    void fill() {
        tag++;
        fillAgain(true);
    }

    /** Writes every block, stripe by stripe; stable with the next flush. */
    void fillUnflushed() {
        tag++;
        fillAgain(false);
    }

    /** Writes what was written to every block last. */
    void fillAgain(boolean fua) {
        int step = volume.layout().stripeBlocks();
        for (int from = 0; from < volume.blockCount(); from += step) {
            int count = (int) Math.min(step, volume.blockCount() - from);
            MemorySegment data = MemorySegment.ofArray(new byte[count * BLOCK]);
            for (int block = 0; block < count; block++) {
                data.set(JAVA_LONG_UNALIGNED, (long) block * BLOCK, content(from + block));
            }
            StorageException failure = does(new BlockRequest().asWrite(from, count, data, fua));
            assertThat(failure).as(title).isNull();
        }
    }

    private long content(int block) { return tag << 32 | block; }

    /** How a request ends; it must. */
    StorageException does(BlockRequest request) {
        var end = new ArrayList<StorageException>();
        volume.submit(request.onCompletion((_, failure) -> end.add(failure)));
        settle();
        assertThat(end).as(title).hasSize(1);
        return end.getFirst();
    }

    void check() { check(0, volume.blockCount()); }

    void checkFirst(long blocks) { check(0, blocks); }

    void checkFrom(int block) { check(block, volume.blockCount()); }

    private void check(int from, long end) {
        for (int block = from; block < end; block++) {
            MemorySegment data = MemorySegment.ofArray(new byte[BLOCK]);
            assertThat(does(new BlockRequest().asRead(block, 1, data)))
                    .as(title + " block " + block).isNull();
            checkBlock(block, data);
        }
    }

    void checkBlock(int block, MemorySegment data) {
        assertThat(data.get(JAVA_LONG_UNALIGNED, 0)).as(title + " block " + block)
                .isEqualTo(content(block));
    }

    void checkRedundancy() {
        Scrub scrub = volume.scrub(false, ScanOptions.DEFAULT);
        settle();
        assertThat(scrub.hasEnded()).as(title).isTrue();
        assertThat(scrub.mismatches()).as(title).isZero();
        assertThat(scrub.skipped()).as(title).isZero();
    }

    void fail(int slot) {
        volume.fail(slot, new DeviceGoneException("pulled"));
        settle();
    }

    /** It gets the last disk for a member more. */
    void grow() { grow(disks.size() - 1); }

    /** Grows by another disk, as the service does: volume and metadata come to rest, the record is changed. */
    void grow(int disk) {
        var failures = new ArrayList<StorageException>();
        volume.pause(() -> metadata.pause(_ -> {
            try {
                metadata = Growth.grow(metadata, "disk:" + disk, disks.get(disk), uuids.get(disk),
                        (slot, why) -> volume.fail(slot, why));
                volume.resume(metadata.record().shape(), metadata.raidMembers(), raidOptions(),
                        metadata.reshaping());
            } catch (StorageException e) {
                failures.add(e);
            }
        }));
        settle();
        assertThat(failures.isEmpty() || isCut()).as(title + failures).isTrue();
    }

    /** Gives each slot a member with all data again, spares first. */
    void makeWhole() throws StorageException {
        for (int slot = 0; slot < composition.slots().size(); slot++) {
            SlotState state = volume.state().slots().get(slot);
            if (state == SlotState.REBUILDING) {
                volume.rebuild(slot, ScanOptions.DEFAULT);
            } else if (state == SlotState.FAILED) {
                int failed = slot;
                BlockDevice device = metadata.takeSpare(slot)
                        .orElseGet(() -> comeBack(failed));
                volume.replace(slot, device, metadata.dataOffset(), ScanOptions.DEFAULT);
            }
            settle();
        }
        assertThat(volume.state().slots()).as(title).containsOnly(SlotState.ACTIVE);
        metadata.tick();
        settle();
        assertThat(metadata.record().isWhole()).as(title + metadata.record()).isTrue();
    }

    private BlockDevice comeBack(int slot) {
        Composition.Slot found = composition.slots().get(slot);
        assertThat(found.use()).as(title).isIn(Use.STALE, Use.STALE_COVERED);
        int disk = found.candidate().getAsInt();
        try {
            metadata.admit(slot, disks.get(disk), uuids.get(disk), true);
        } catch (StorageException e) {
            throw new AssertionError(title, e);
        }
        return disks.get(disk);
    }

    /** The disks have threads, and so are not forgotten by themselves. */
    void close() {
        disks.forEach(QueuedDevice::close);
    }

    Layout layout() { return volume.layout(); }
}
