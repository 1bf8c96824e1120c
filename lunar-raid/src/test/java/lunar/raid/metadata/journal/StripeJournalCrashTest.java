package lunar.raid.metadata.journal;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.QueuedDevice;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Stripes over three disks with volatile caches. Each row of a stripe has a version, the same on all disks: that stands
 * for parity that is true. Rows are written with data in the journal, whole stripes with a note. The power is cut at
 * any moment, also in the middle of a replay, and at times a disk is lost with it. After the replay all rows must have
 * one version, but for stripes that are reported as torn; nothing that was flushed, and no data that were stable in the
 * journal, may be gone or be covered by something older.
 */
class StripeJournalCrashTest {
    private static final int DISKS = 3;
    private static final VolumeRecord VOLUME = Volumes.volume(Level.RAID5, DISKS,
            Consistency.JOURNAL).withClean(false);
    private static final int STRIPES = 12;
    private static final int ROWS = Volumes.CHUNK_BLOCKS;
    private static final int ALL = STRIPES * ROWS;
    private static final long DATA_BLOCK = VOLUME.description().layout().dataBytes() / 512;
    private static final int DISK_BYTES = (int) (DATA_BLOCK + ALL) * 512;
    private static final int RUNS = 120;
    private static final int MAX_WRITES = 6;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private List<QueuedDevice> disks = new ArrayList<>();
    /** With as many sections as a run wants. */
    private VolumeRecord volume = VOLUME;
    private MemberSet members;
    private VolumeJournal journal;
    private List<Long> torn = List.of();
    private final boolean[] busy = new boolean[STRIPES];
    /** By row of all stripes: what it must have at least, and at most. */
    private final long[] least = new long[ALL];
    private final long[] completed = new long[ALL];
    private final long[] flushed = new long[ALL];
    private long version;
    private int writes;
    private boolean flushing;
    private int replayed;
    private int tornFound;
    private int lost;
    private int replaysCut;

    private final class Write {
        private final int stripe;
        private final int first;
        private final int count;
        private final boolean isNote;
        private final long mine;
        private final MemorySegment data;
        private int left = DISKS;

        Write(int stripe) {
            this.stripe = stripe;
            isNote = random.nextInt(3) == 0;
            first = isNote ? 0 : random.nextInt(ROWS);
            count = isNote ? ROWS : 1 + random.nextInt(ROWS - first);
            version++;
            mine = version;
            data = MemorySegment.ofArray(new byte[count * 512]);
            for (int row = 0; row < count; row++) {
                for (int at = 0; at < 512; at += Long.BYTES) {
                    data.set(JAVA_LONG_UNALIGNED, row * 512L + at, mine);
                }
            }
            busy[stripe] = true;
            writes++;
        }

        void begin() {
            var entry = new JournalEntry(512, (told, failure) -> {
                if (failure == null) {
                    place(told);
                }
            });
            entry = isNote ? entry.asNote(stripe) : entry.asData(stripe);
            for (int slot = 0; slot < DISKS; slot++) {
                entry.add(slot, (long) stripe * ROWS + first, data);
            }
            if (isNote) { // what was there before may be gone from now on, unless it was flushed
                for (int row = stripe * ROWS; row < (stripe + 1) * ROWS; row++) {
                    least[row] = Math.min(least[row], flushed[row]);
                }
            }
            journal.append(entry);
        }

        void place(JournalEntry entry) {
            if (!isNote) {
                Arrays.fill(least, stripe * ROWS + first, stripe * ROWS + first + count, mine);
            }
            for (QueuedDevice disk : disks) {
                disk.submit(new BlockRequest()
                        .asWrite(DATA_BLOCK + (long) stripe * ROWS + first, count, data, false)
                        .onCompletion((_, failure) -> {
                            left--;
                            if (left == 0 && failure == null) {
                                done(entry);
                            }
                        }));
            }
        }

        void done(JournalEntry entry) {
            journal.written(entry, false);
            Arrays.fill(completed, stripe * ROWS + first, stripe * ROWS + first + count, mine);
            busy[stripe] = false;
            writes--;
        }
    }

    private void flush() {
        flushing = true;
        long begun = journal.beforeFlush();
        long[] then = completed.clone();
        var left = new int[]{DISKS};
        for (QueuedDevice disk : disks) {
            disk.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
                if (failure == null && --left[0] == 0) {
                    for (int row = 0; row < ALL; row++) {
                        flushed[row] = Math.max(flushed[row], then[row]);
                        least[row] = Math.max(least[row], then[row]);
                    }
                    journal.afterFlush(begun);
                    flushing = false;
                }
            }));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldHaveAllThatWasLoggedAfterACrash(int sections) throws StorageException {
        volume = Volumes.volume(Level.RAID5, DISKS, Consistency.JOURNAL, sections)
                .withClean(false);
        for (int i = 0; i < DISKS; i++) {
            QueuedDevice disk = QueuedDevice.create(DISK_BYTES, random);
            VolumeJournal.createCopies(volume, i, disk);
            disk.flush();
            disks.add(disk);
        }
        for (int run = 0; run < RUNS; run++) {
            open(-1, true);
            work();
            cut();
            int missing = random.nextInt(2 * DISKS);
            crashInReplays(missing);
            open(missing, true);
            check(run, missing);
        }
        assertThat(replayed).as("seed %d", seed).isGreaterThan(RUNS);
        assertThat(tornFound).as("seed %d", seed).isGreaterThan(RUNS / 10);
        assertThat(lost).as("seed %d", seed).isGreaterThan(RUNS / 10);
        assertThat(replaysCut).as("seed %d", seed).isGreaterThan(RUNS / 10);
    }

    private void open(int missing, boolean andBegin) throws StorageException {
        members = new MemberSet(DISKS, (_, _) -> {});
        long inSync = 0;
        for (int slot = 0; slot < DISKS; slot++) {
            if (slot != missing) {
                members.add(slot, disks.get(slot));
                inSync |= 1L << slot;
            }
        }
        JournalReplay replay = JournalReplay.of(volume, members, inSync, members, inSync,
                JournalReplay.ANY);
        torn = replay.torn().stream().map(JournalReplay.Torn::stripe).toList();
        replayed += replay.replayed();
        if (!andBegin && !torn.isEmpty()) {
            return;
        }
        journal = replay.begin(inSync);
        Arrays.fill(busy, false);
        writes = 0;
        flushing = false;
    }

    private void crashInReplays(int missing) throws StorageException {
        while (random.nextInt(3) == 0) {
            int victim = random.nextInt(DISKS);
            disks.set(victim, disks.get(victim).afterCut(random.nextInt(60)));
            try {
                open(missing, false);
            } catch (StorageException e) {
                replaysCut++;
            }
            cut();
        }
    }

    private void work() {
        int victim = random.nextInt(DISKS);
        try {
            disks.get(victim).flush();
        } catch (StorageException e) {
            throw new AssertionError(e);
        }
        disks.set(victim, disks.get(victim).afterCut(random.nextInt(200)));
        members.add(victim, disks.get(victim));
        int steps = random.nextInt(800);
        for (int i = 0; i < steps && disks.stream().noneMatch(QueuedDevice::isCut); i++) {
            int stripe = random.nextInt(STRIPES);
            int what = random.nextInt(40);
            if (what == 0) {
                journal.tick();
            } else if (what == 1 && !flushing) {
                flush();
            } else if (what < 14 && writes < MAX_WRITES && !busy[stripe]) {
                new Write(stripe).begin();
            } else {
                QueuedDevice disk = disks.get(random.nextInt(DISKS));
                if (disk.pending() > 0) {
                    disk.step(random);
                }
            }
        }
    }

    private void cut() {
        var after = new ArrayList<QueuedDevice>();
        for (QueuedDevice disk : disks) {
            after.add(disk.afterCut(Long.MAX_VALUE));
        }
        disks = after;
    }

    private void check(int run, int missing) throws StorageException {
        int source = missing == 0 ? 1 : 0;
        for (int row = 0; row < ALL; row++) {
            boolean reported = torn.contains((long) row / ROWS);
            long there = content(source, row);
            for (int slot = 0; slot < DISKS; slot++) {
                if (slot == missing) {
                    continue;
                }
                long found = content(slot, row);
                String what = "seed %d run %d missing %d disk %d row %d%s".formatted(seed, run,
                        missing, slot, row, reported ? " torn" : "");
                assertThat(found).as(what).isBetween(least[row], version);
                if (!reported) {
                    assertThat(found).as(what + ": one version").isEqualTo(there);
                }
            }
            // As a resync does; and a rebuild, for a disk that was lost.
            for (int slot = 0; slot < DISKS; slot++) {
                copy(source, slot, row);
            }
            completed[row] = there;
            flushed[row] = there;
            least[row] = there;
        }
        tornFound += torn.size();
        if (missing >= 0 && missing < DISKS) {
            lost++;
            var blank = new Page();
            for (int i = 0; i < volume.description().layout().journalSections(); i++) {
                var pair = new PagePair(disks.get(missing),
                        volume.description().layout().sectionBytes(i));
                pair.write(blank);
                pair.write(blank);
            }
        }
        for (QueuedDevice disk : disks) {
            disk.flush();
        }
    }

    private void copy(int from, int to, int row) throws StorageException {
        MemorySegment data = MemorySegment.ofArray(new byte[512]);
        disks.get(from).read(DATA_BLOCK + row, data);
        disks.get(to).write(DATA_BLOCK + row, data);
    }

    private long content(int slot, int row) throws StorageException {
        MemorySegment data = MemorySegment.ofArray(new byte[512]);
        disks.get(slot).read(DATA_BLOCK + row, data);
        return data.get(JAVA_LONG_UNALIGNED, 504);
    }
}
