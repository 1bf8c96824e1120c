package lunar.raid.metadata.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.journal.JournalReplay.Torn;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A journal of four sections over four disks. */
class VolumeJournalTest {
    private static final int SLOTS = 4;
    private static final VolumeRecord VOLUME = Volumes
            .volume(Level.RAID5, SLOTS, Consistency.JOURNAL, SLOTS).withClean(false);
    private static final MetadataLayout LAYOUT = VOLUME.description().layout();
    private static final int BLOCK = 512;

    private final List<SteppedDevice> disks = new ArrayList<>();
    private final MemberSet members = new MemberSet(SLOTS, (_, _) -> {});
    private final List<Long> told = new ArrayList<>();
    private VolumeJournal journal;

    @BeforeEach
    void create() throws StorageException {
        for (int slot = 0; slot < SLOTS; slot++) {
            disks.add(new SteppedDevice((int) (LAYOUT.dataBytes() / BLOCK) + 4096));
            members.add(slot, disks.get(slot));
            VolumeJournal.createCopies(VOLUME, slot, disks.get(slot));
        }
        journal = reopened(0b1111).begin(0b1111);
    }

    private JournalReplay reopened(long inSync) throws StorageException {
        return JournalReplay.of(VOLUME, members, inSync, members, inSync, JournalReplay.ANY);
    }

    private JournalEntry appended(long stripe, int fill) {
        MemorySegment content = MemorySegment.ofArray(new byte[BLOCK]).fill((byte) fill);
        JournalEntry entry = new JournalEntry(BLOCK, (one, failure) -> {
            assertThat(failure).isNull();
            told.add(one.stripe());
        }).asData(stripe).add(0, stripe * 8, content).add(1, stripe * 8, content);
        journal.append(entry);
        return entry;
    }

    private void endAll() {
        while (disks.stream().anyMatch(disk -> !disk.pending().isEmpty())) {
            disks.forEach(SteppedDevice::endAll);
        }
    }

    private static List<Long> copies(Level level, int slots, int sections, long candidates) {
        VolumeDescription what = Volumes.volume(level, slots, Consistency.JOURNAL, sections)
                .description();
        var copies = new ArrayList<Long>();
        for (int section = 0; section < sections; section++) {
            copies.add(VolumeJournal.copies(what, section, slots, candidates));
        }
        return copies;
    }

    @Test
    void shouldHaveCopiesOnAllMembersAlike() {
        assertThat(copies(Level.RAID5, 4, 4, 0b1111)).containsExactly(0b0011L, 0b0110L, 0b1100L,
                0b1001L);
        assertThat(copies(Level.RAID6, 4, 4, 0b1111)).containsExactly(0b0111L, 0b1110L, 0b1101L,
                0b1011L);
        assertThat(copies(Level.RAID5, 6, 3, 0b111111)).as("fewer sections")
                .containsExactly(0b000011L, 0b001100L, 0b110000L);
        assertThat(copies(Level.RAID5, 4, 1, 0b1111)).containsExactly(0b0011L);
        assertThat(copies(Level.RAID5, 4, 4, 0b1101)).as("others stand in for one that is missing")
                .containsExactly(0b0101L, 0b1100L, 0b1100L, 0b1001L);
        assertThat(copies(Level.RAID5, 3, 3, 0b001)).as("as many as there are")
                .containsExactly(0b001L, 0b001L, 0b001L);
    }

    @Test
    void shouldPutEntriesOfAStripeInOneSection() {
        for (long stripe = 0; stripe < SLOTS; stripe++) {
            appended(stripe, 1);
            appended(stripe + SLOTS, 2);
            for (int slot = 0; slot < SLOTS; slot++) {
                long lba = (LAYOUT.sectionBytes((int) stripe) + JournalFormat.RING_AT) / BLOCK;
                boolean isHere = slot == stripe || slot == (stripe + 1) % SLOTS;
                assertThat(disks.get(slot).pending()).as("stripe %d slot %d", stripe, slot)
                        .hasSize(isHere ? 1 : 0)
                        .allMatch(step -> step.request().lba() == lba && step.request().fua());
            }
            endAll();
        }
        assertThat(told).containsExactly(0L, 4L, 1L, 5L, 2L, 6L, 3L, 7L);
        assertThat(LAYOUT.sectionBytes(3) + LAYOUT.sectionLengthBytes())
                .isLessThanOrEqualTo(LAYOUT.dataBytes());
    }

    @Test
    void shouldReplayAllSections() throws StorageException {
        for (long stripe = 0; stripe < 9; stripe++) {
            appended(stripe, 1);
            appended(stripe, 10 + (int) stripe);
        }
        endAll();
        for (int missing = 0; missing < SLOTS; missing++) {
            JournalReplay replay = reopened(0b1111 & ~(1L << missing));
            assertThat(replay.replayed()).as("without " + missing).isEqualTo(18);
        }
        for (int stripe = 0; stripe < 9; stripe++) {
            assertThat(disks.get(0).content().get(ValueLayout.JAVA_BYTE,
                    LAYOUT.dataBytes() + stripe * 8L * BLOCK)).isEqualTo((byte) (10 + stripe));
        }
        reopened(0b1111).begin(0b1111);
        assertThat(reopened(0b1111).replayed()).isZero();
    }

    /** A mark of one section must not look as if a note of another had been in progress in place. */
    @Test
    void shouldAskForAllBitsBeforeItSetsAny() throws StorageException {
        for (long stripe = 0; stripe < 8; stripe++) {
            MemorySegment content = MemorySegment.ofArray(new byte[BLOCK]).fill((byte) 7);
            var entry = new JournalEntry(BLOCK, (_, _) -> {});
            journal.append((stripe < 4 ? entry.asData(stripe) : entry.asNote(stripe))
                    .add(0, stripe * 8, content));
            endAll();
        }
        var done = new ArrayList<String>();
        JournalReplay replay = JournalReplay.of(VOLUME, members, 0b1111, members, 0b1111,
                new JournalReplay.Regions() {
                    @Override
                    public boolean mayBeWritten(long stripe) {
                        done.add("asked");
                        return stripe == 6;
                    }

                    @Override
                    public void mark(Collection<Long> changed) { done.add("marked " + changed); }
                });
        assertThat(done).containsExactly("asked", "asked", "asked", "asked",
                "marked [0, 1, 2, 3]");
        assertThat(replay.torn()).extracting(Torn::stripe).containsExactly(6L);
        assertThat(replay.replayed()).isEqualTo(4);
    }

    @Test
    void shouldFreeEntriesOfAllSectionsWithOneFlush() {
        var entries = new ArrayList<JournalEntry>();
        for (long stripe = 0; stripe < SLOTS; stripe++) {
            entries.add(appended(stripe, 1));
        }
        endAll();
        entries.forEach(entry -> journal.written(entry, false));
        assertThat(journal.live()).isEqualTo(SLOTS);
        journal.tick();
        for (SteppedDevice disk : disks) {
            assertThat(disk.pending()).extracting(step -> step.request().operation())
                    .containsExactly(Operation.FLUSH);
        }
        endAll();
        assertThat(journal.live()).isZero();
        assertThat(disks).allMatch(disk -> disk.pending().isEmpty());

        JournalEntry late = appended(0, 1);
        endAll();
        long begun = journal.beforeFlush();
        journal.written(late, false);
        JournalEntry other = appended(1, 1);
        endAll();
        journal.afterFlush(begun);
        assertThat(journal.live()).as("in place after the flush began").isEqualTo(2);
        journal.written(other, false);
        journal.afterFlush(journal.beforeFlush());
        assertThat(journal.live()).isZero();
    }

    @Test
    void shouldGiveAMemberTheSectionsThatLackACopy() throws StorageException {
        members.drop(1);
        for (int section = 0; section < SLOTS; section++) {
            assertThat(journal.section(section).copies())
                    .isEqualTo(VolumeJournal.copies(VOLUME.description(), section, SLOTS, 0b1111)
                            & 0b1101);
        }
        JournalEntry first = appended(0, 1);
        JournalEntry second = appended(1, 1);
        endAll();
        disks.set(1, new SteppedDevice((int) (LAYOUT.dataBytes() / BLOCK) + 4096));
        members.add(1, disks.get(1));
        var joined = new ArrayList<String>();
        journal.join(1, () -> joined.add("yes"));
        endAll();
        assertThat(joined).as("entries of both sections are live that it has not").isEmpty();
        journal.written(second, false);
        endAll();
        assertThat(joined).as("of one").isEmpty();
        journal.written(first, false);
        endAll();
        assertThat(joined).containsExactly("yes");
        assertThat(journal.section(0).copies()).isEqualTo(0b0011);
        assertThat(journal.section(1).copies()).isEqualTo(0b0110);
        assertThat(journal.section(2).copies()).isEqualTo(0b1100);
        journal.join(1, () -> joined.add("at once"));
        assertThat(joined).as("nothing is missing").containsExactly("yes", "at once");
    }

    @Test
    void shouldWaitForAllSectionsWhereNothingMayBeLeft() {
        JournalEntry first = appended(0, 1);
        JournalEntry second = appended(1, 1);
        endAll();
        var drained = new ArrayList<String>();
        journal.drain(() -> drained.add("yes"));
        journal.written(first, false);
        endAll();
        assertThat(drained).isEmpty();
        journal.written(second, false);
        endAll();
        assertThat(drained).containsExactly("yes");
    }

    /** An entry that is not in place, of a write that has failed, would keep the caller waiting for ever. */
    @Test
    void shouldEndDrainWhenVolumeFails() {
        JournalEntry _ = appended(0, 1);
        endAll();
        var drained = new ArrayList<String>();
        journal.drain(() -> drained.add("yes"));
        endAll();
        assertThat(drained).isEmpty();
        members.abandon(new DeviceGoneException("too many members are gone"));
        assertThat(drained).containsExactly("yes");
    }

    @Test
    void shouldEndDrainWhenNoMemberWithSectionIsLeft() {
        JournalEntry _ = appended(0, 1);
        endAll();
        var drained = new ArrayList<String>();
        journal.drain(() -> drained.add("yes"));
        members.drop(0);
        assertThat(drained).isEmpty();
        members.drop(1);
        assertThat(drained).containsExactly("yes");
    }

    @Test
    void shouldSayWhichSectionIsLost() throws StorageException {
        assertThat(reopened(0b1011).replayed()).isZero();
        assertThatThrownBy(() -> reopened(0b0011)).isInstanceOf(MediumException.class)
                .hasMessageContaining("lost: none of its members has a copy of its section 2");
    }

    private static int sections(long journalBytes, int slots, int copies, int entryKib) {
        return MetadataLayout.journalSections(journalBytes, slots, copies, entryKib << 10);
    }

    /** With the fewest sections that are fair, each member has as many copies as any other. */
    @Test
    void shouldGiveAllMembersTheSameShare() {
        for (Level level : List.of(Level.RAID5, Level.RAID6)) {
            int copies = MetadataLayout.journalCopies(level);
            for (int slots = level.minMembers(); slots <= Superblock.MAX_MEMBERS; slots++) {
                int sections = sections(1 << 30, slots, copies, 512);
                VolumeDescription what = Volumes.description(level, slots, Consistency.JOURNAL,
                        MetadataLayout.of(Consistency.JOURNAL, 1 << 30, sections));
                var shares = new int[slots];
                for (int section = 0; section < sections; section++) {
                    long some = VolumeJournal.copies(what, section, slots, -1L);
                    assertThat(Long.bitCount(some)).isEqualTo(copies);
                    for (int slot = 0; slot < slots; slot++) {
                        shares[slot] += (int) (some >>> slot & 1);
                    }
                }
                assertThat(shares).as("%s of %d", level, slots)
                        .containsOnly(sections * copies / slots);
            }
        }
    }

    @Test
    void shouldHaveSectionsThatAreLongEnoughForEntries() {
        assertThat(sections(1 << 20, 3, 2, 12)).isEqualTo(3);
        assertThat(sections(1 << 20, 5, 2, 12)).as("no room for more").isEqualTo(3);
        assertThat(sections(16 << 20, 4, 2, 132)).as("all pairs").isEqualTo(2);
        assertThat(sections(16 << 20, 5, 2, 132)).isEqualTo(5);
        assertThat(sections(16 << 20, 6, 3, 196)).as("all triples").isEqualTo(2);
        assertThat(sections(16 << 20, 4, 3, 196)).isEqualTo(4);
        assertThat(sections(16 << 20, 64, 2, 132)).isEqualTo(7);
        assertThat(sections(1 << 20, 4, 2, 132)).isEqualTo(1);
        assertThat(sections(1 << 30, 64, 3, 512)).isEqualTo(64);
        for (int sections = 1; sections <= 4; sections++) {
            MetadataLayout layout = MetadataLayout.of(Consistency.JOURNAL, 1 << 20, sections);
            assertThat(layout.sectionBytes(sections - 1) + layout.sectionLengthBytes())
                    .isLessThanOrEqualTo(layout.dataBytes());
        }
        assertThatThrownBy(() -> MetadataLayout.of(Consistency.JOURNAL, 1 << 20, 5))
                .hasMessage("a journal of 1048576 bytes in 5 sections");
    }
}
