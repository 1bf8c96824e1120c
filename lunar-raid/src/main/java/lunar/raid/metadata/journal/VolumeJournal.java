package lunar.raid.metadata.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the write hole of levels with parity shut. Every write in place is preceded by an entry here, on one member
 * more than the level can lose: with the new data and the new parity of what is written, or, for whole stripes that go
 * to all members, with their checksums only. After a crash {@link JournalReplay} writes what whole entries have, in
 * their order, and tells which noted stripes were not wholly written.
 *
 * <p><b>Sections.</b> On the members it has several, where they are not too small, each with its copies on other
 * members; so all members have the same share of what is logged. The stripe decides which section an entry goes to
 * ({@link StripeJournal}). Entries of one stripe are in one section, and nothing else needs an order. A flush of the
 * members makes entries of all sections free.
 *
 * <p>For any thread; nothing blocks, and entries take no memory.
 */
public final class VolumeJournal {
    private final boolean isOnMembers;
    private final MemberSet holders;
    private final int copies;
    private final JournalFlush flush;
    private final StripeJournal[] sections;

    /** Makes a section that goes on where a replay has ended. */
    @FunctionalInterface
    interface Beginning {
        StripeJournal begin(int section, JournalFlush flush) throws StorageException;
    }

    /**
     * @param holders the devices with copies: the members, or a set with a device of its own
     * @param members the members to be flushed before an entry is free
     */
    VolumeJournal(VolumeRecord volume, MemberSet holders, MemberSet members, Beginning beginning)
            throws StorageException {
        isOnMembers = holders.equals(members);
        this.holders = holders;
        copies = MetadataLayout.journalCopies(volume.description().level());
        flush = new JournalFlush(members, this::flushed);
        sections = new StripeJournal[volume.description().layout().journalSections()];
        for (int i = 0; i < sections.length; i++) {
            sections[i] = beginning.begin(i, flush);
        }
    }

    /** The section that has a stripe's entries. */
    static int sectionOf(long stripe, int sections) {
        return Math.floorMod(stripe, sections);
    }

    /**
     * The slots that have a section's copies where these may have some: the section's own, and those behind it.
     *
     * @param slots of the holders
     * @param candidates as bits
     */
    static long copies(VolumeDescription what, int section, int slots, long candidates) {
        int first = section * slots / what.layout().journalSections();
        long some = 0;
        for (int i = 0; i < slots
                && Long.bitCount(some) < MetadataLayout.journalCopies(what.level()); i++) {
            some |= candidates & 1L << (first + i) % slots;
        }
        return some;
    }

    /** Makes the sections that a slot of a new volume has, or its device for the journal; all empty. Blocks. */
    public static void createCopies(VolumeRecord volume, int slot, BlockDevice holder)
            throws StorageException {
        VolumeDescription what = volume.description();
        int slots = what.journalDevice() == null ? what.slots() : 1;
        for (int i = 0; i < what.layout().journalSections(); i++) {
            if ((copies(what, i, slots, -1L) & 1L << slot) != 0) {
                SectionReader.create(volume, i, holder);
            }
        }
    }

    /** The device that it has for its own; null where it has none, or that has failed. */
    public @Nullable BlockDevice device() {
        return isOnMembers || holders.active() == 0 ? null : holders.given(0);
    }

    /** Returns a section, for tests and for bringing in members. */
    public StripeJournal section(int index) {
        return sections[index];
    }

    private StripeJournal of(JournalEntry entry) {
        return sections[sectionOf(entry.stripe(), sections.length)];
    }

    /** Bytes of data that an entry of so many extents may have; more is to be written in parts. */
    public int maxDataBytes(int extents) {
        int most = Integer.MAX_VALUE;
        for (StripeJournal section : sections) {
            most = Math.min(most, section.maxDataBytes(extents));
        }
        return most;
    }

    /**
     * Makes an entry stable on all copies, and then tells it. Content of the entry is read until it is told.
     *
     * @throws IllegalArgumentException where the entry is too long or has nothing in it
     */
    public void append(JournalEntry entry) { of(entry).append(entry); }

    /**
     * An entry's writes in place have all ended well, on members that are not out.
     *
     * @param isStable whether they are stable already, since each of them was forced
     */
    public void written(JournalEntry entry, boolean isStable) {
        of(entry).written(entry, isStable);
    }

    /**
     * An entry's writes in place have been put back, as far as that was possible, since members had no space for all of
     * them. Not stable yet. Until the entry is free, it may be replayed, but not beneath later data of its stripe.
     */
    public void undone(JournalEntry entry) { of(entry).undone(entry); }

    /**
     * Members have lost what was in place and not flushed, and the volume goes on with what they have. Entries so far
     * must not be replayed beneath later ones, whose parity is computed from that: these wait until those are free.
     * None becomes free before {@link #lossNoted}, which is to be called once for each call of this.
     */
    public void lost() { each(StripeJournal::lost); }

    /** It is stable, whatever becomes of the entries, that the stripes concerned are to be compared. */
    public void lossNoted() {
        each(StripeJournal::lossNoted);
    }

    /** A flush of all members begins that is not the journal's: gives what {@link #afterFlush} wants to know. */
    public long beforeFlush() {
        return flush.begin();
    }

    /**
     * Called when that flush has succeeded on all members that have not failed: writes in place before it are stable.
     */
    public void afterFlush(long begun) { flush.end(begun); }

    private void flushed() { each(StripeJournal::flushed); }

    /** Time has passed: what was written in place is made stable and free. */
    public void tick() {
        each(StripeJournal::tick);
    }

    private void each(Consumer<StripeJournal> does) {
        for (StripeJournal section : sections) {
            does.accept(section);
        }
    }

    /** Entries that are not free. */
    public long live() {
        long live = 0;
        for (StripeJournal section : sections) {
            live += section.live();
        }
        return live;
    }

    /** Returns the pages that a member gets when it comes into a slot; none where the journal is not on the members. */
    public List<PageWriter> pages() {
        var pages = new ArrayList<PageWriter>();
        if (isOnMembers) {
            each(section -> pages.add(section.page()));
        }
        return pages;
    }

    /**
     * Gives a member copies of sections that lack one, in place of one that was dropped; its metadata area is blank.
     *
     * @param done told when the journal is as good on it as on the others: not before may the member be called ACTIVE
     */
    public void join(int slot, Runnable done) {
        var lacking = new ArrayList<StripeJournal>();
        for (StripeJournal section : sections) {
            if (isOnMembers && Long.bitCount(section.copies()) < copies) {
                lacking.add(section);
            }
        }
        Runnable one = whenAll(lacking.size(), done);
        lacking.forEach(section -> section.join(slot, one));
    }

    /** Calls back when no entry that is live now would be replayed after a crash. */
    public void drain(Runnable done) {
        Runnable one = whenAll(sections.length, done);
        each(section -> section.drain(one));
    }

    private static Runnable whenAll(int count, Runnable done) {
        if (count == 0) {
            done.run();
        }
        var left = new AtomicInteger(count);
        return () -> {
            if (left.decrementAndGet() == 0) {
                done.run();
            }
        };
    }
}
