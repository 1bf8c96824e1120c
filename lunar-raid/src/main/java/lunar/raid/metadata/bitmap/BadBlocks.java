package lunar.raid.metadata.bitmap;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.BadBlockList;
import lunar.raid.Completion;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.page.Waiter;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of members that have lost their content: what should be there is not known, so reading them is an error until
 * they are written again. A short list, sorted, kept on all members. What is added is stable when it is told; what is
 * taken away goes after a flush of all members, so that the blocks' new content is stable first.
 */
public final class BadBlocks implements BadBlockList {
    /** Most ranges. */
    public static final int MAX_RANGES = (Page.BYTES - Offsets.RANGES) / Offsets.RANGE_BYTES;

    private static final long MAGIC = Page.magic("LUNARBAD");
    private static final int FORMAT_VERSION = 1;
    private static final Comparator<Range> ORDER = Comparator.comparingInt(Range::slot)
            .thenComparingLong(Range::block);

    /** Offsets on the page. */
    private static final class Offsets {
        static final int COUNT = 40;
        static final int RANGES = 64;
        static final int RANGE_BYTES = 16;
        static final int BLOCKS = 8;
        static final int SLOT = 12;
    }

    /**
     * A run of adjacent blocks of a slot's member.
     *
     * @param slot the slot
     * @param block the first, in the data area
     * @param blocks how many
     */
    public record Range(int slot, long block, int blocks) {
        public Range {
            if (slot < 0 || block < 0 || blocks <= 0 || block > Long.MAX_VALUE - blocks) {
                throw new IllegalArgumentException(
                        "blocks " + block + " and on, " + blocks + " of slot " + slot);
            }
        }

        long end() { return block + blocks; }
    }

    private final PageWriter writer;
    /** Sorted, without neighbours; replaced under the lock. */
    private volatile List<Range> ranges = List.of();

    private BadBlocks(MemberSet members, VolumeRecord volume) {
        writer = new PageWriter(this, members, members::active, location(volume), true,
                (_, page) -> fill(page, ranges));
    }

    private static PageWriter.Location location(VolumeRecord volume) {
        VolumeDescription what = volume.description();
        return new PageWriter.Location("list of bad blocks", MAGIC, FORMAT_VERSION, what.uuid(),
                what.layout().badBlocksBytes());
    }

    /**
     * Opens the list, as members have it: the newest copy counts. A crash may have left older ones, which are replaced:
     * if the member with the newest one were lost next, they would call blocks lost that have been written since.
     * Blocks.
     *
     * @param members the members that keep the list
     * @param inSync slots of the members that are in sync, as bits: only their copies count
     * @throws MediumException where none of them has a copy
     * @throws StorageException if a member does not take the newest copy
     */
    public static BadBlocks open(MemberSet members, VolumeRecord volume, long inSync)
            throws StorageException {
        var bad = new BadBlocks(members, volume);
        synchronized (bad) {
            Page newest = null;
            List<Range> found = null;
            Map<Integer, Page> pages = bad.writer.read();
            for (var entry : pages.entrySet()) {
                Page page = entry.getValue();
                if ((inSync & 1L << entry.getKey()) != 0
                        && (newest == null || page.generation() > newest.generation())) {
                    List<Range> read = parse(page, volume);
                    if (read != null) {
                        newest = page;
                        found = read;
                    }
                }
            }
            if (newest == null || found == null) {
                throw new MediumException("the list of bad blocks of volume "
                        + volume.description().title() + " is lost: no member has a copy");
            }
            bad.ranges = found;
            long generation = newest.generation();
            boolean isOnAll = pages.size() == Long.bitCount(members.active())
                    && pages.values().stream().allMatch(page -> page.generation() == generation);
            // The list of a volume without redundancy is always empty: no member is to fail for it.
            if (!isOnAll && volume.description().level().isRedundant()) {
                bad.writer.writeNow();
            }
        }
        return bad;
    }

    private static @Nullable List<Range> parse(Page page, VolumeRecord volume) {
        ByteBuffer bytes = page.bytes();
        int count = bytes.getInt(Offsets.COUNT);
        if (count < 0 || count > MAX_RANGES) {
            return null;
        }
        var found = new ArrayList<Range>(count);
        for (int i = 0; i < count; i++) {
            int at = Offsets.RANGES + i * Offsets.RANGE_BYTES;
            int slot = bytes.getInt(at + Offsets.SLOT);
            int blocks = bytes.getInt(at + Offsets.BLOCKS);
            long block = bytes.getLong(at);
            if (slot < 0 || slot >= volume.description().slots() || block < 0 || blocks <= 0
                    || block > volume.members().get(slot).dataBlocks() - blocks) {
                return null;
            }
            found.add(new Range(slot, block, blocks));
        }
        return List.copyOf(found);
    }

    private static void fill(Page page, List<Range> ranges) {
        ByteBuffer bytes = page.bytes();
        bytes.putInt(Offsets.COUNT, ranges.size());
        int at = Offsets.RANGES;
        for (Range range : ranges) {
            bytes.putLong(at, range.block()).putInt(at + Offsets.BLOCKS, range.blocks())
                    .putInt(at + Offsets.SLOT, range.slot());
            at += Offsets.RANGE_BYTES;
        }
    }

    /** A page without a range, as a new volume has it. */
    public static void fillBlank(VolumeRecord volume, long generation, Page page) {
        fill(page.clear(), List.of());
        page.seal(MAGIC, FORMAT_VERSION, generation, volume.description().uuid());
    }

    /** All of them, by slot and block. */
    public List<Range> ranges() { return ranges; }

    /** Whether one of these blocks has lost its content. Cheap, most of all where there is none at all. */
    @Override
    public boolean overlaps(int slot, long block, long blocks) {
        for (Range range : ranges) {
            if (range.slot() == slot && range.block() < block + blocks && block < range.end()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void lose(int slot, long memberBlock, int blocks, Completion completion) {
        add(new Range(slot, memberBlock, blocks), completion);
    }

    /** Adds blocks that have lost their content. Fails if the list is full: then all of the slot counts as lost. */
    public void add(Range lost, Completion completion) {
        change(merged(lost), completion);
    }

    /**
     * These blocks have lost their content; before anything is added otherwise. Blocks.
     *
     * @throws NoSpaceException where the list is full
     */
    public void addNow(List<Range> lost) throws StorageException {
        synchronized (this) {
            List<Range> changed = ranges;
            for (Range one : lost) {
                changed = merged(one).of(changed);
            }
            if (changed.size() > MAX_RANGES) {
                throw new NoSpaceException("the list of bad blocks is full");
            }
            ranges = List.copyOf(changed);
            writer.writeNow();
        }
    }

    /** Removes blocks that were written. If the list is full, a range cannot be split, and stays as it is. */
    public void remove(Range written, Completion completion) {
        change(without(written), completion);
    }

    /** {@inheritDoc} Where the list is full they go on failing to be read, as {@link #remove} says. */
    @Override
    public void written(int slot, long memberBlock, int blocks, Runnable done) {
        remove(new Range(slot, memberBlock, blocks), _ -> done.run());
    }

    /**
     * Removes a range of blocks of all slots: they have content again. An empty list is not written: a volume without
     * redundancy, whose list is always empty, cannot have a member that fails such a write.
     */
    public void removeBlocks(long from, long end, Completion completion) {
        if (ranges.isEmpty()) {
            completion.completed(null);
        } else {
            change(outside(from, end), completion);
        }
    }

    /** Like {@link #removeBlocks}, but stable on return; only before any other change. Blocks. */
    public void removeBlocksNow(long from, long end) throws StorageException {
        synchronized (this) {
            ranges = List.copyOf(outside(from, end).of(ranges));
            writer.writeNow();
        }
    }

    /** Removes all ranges of a slot, which has got a new member. */
    public void removeSlot(int slot, Completion completion) {
        change(old -> old.stream().filter(one -> one.slot() != slot).toList(), completion);
    }

    public PageWriter writer() { return writer; }

    /** Writes the list to all members as they are now. */
    public void write(Runnable stable) {
        change(old -> old, _ -> stable.run());
    }

    private interface Change {
        List<Range> of(List<Range> old);
    }

    private void change(Change change, Completion completion) {
        boolean full;
        synchronized (this) {
            List<Range> changed = change.of(ranges);
            full = changed.size() > MAX_RANGES;
            if (!full) {
                ranges = List.copyOf(changed);
                writer.join(new Waiter() {
                    @Override
                    public void stable(@Nullable StorageException failure) {
                        completion.completed(failure);
                    }
                });
            }
        }
        if (full) {
            completion.completed(new NoSpaceException("the list of bad blocks is full"));
        } else {
            writer.advance();
        }
    }

    private static Change merged(Range lost) {
        return old -> {
            long from = lost.block();
            long end = lost.end();
            var changed = new ArrayList<Range>();
            for (Range one : old) {
                boolean touches = one.slot() == lost.slot() && one.block() <= end
                        && from <= one.end();
                if (touches && Math.max(end, one.end())
                        - Math.min(from, one.block()) <= Integer.MAX_VALUE) {
                    from = Math.min(from, one.block());
                    end = Math.max(end, one.end());
                } else {
                    changed.add(one);
                }
            }
            changed.add(new Range(lost.slot(), from, (int) (end - from)));
            changed.sort(ORDER);
            return changed;
        };
    }

    private static Change without(Range written) {
        return old -> {
            var changed = new ArrayList<Range>();
            for (Range one : old) {
                if (one.slot() != written.slot()) {
                    changed.add(one);
                } else {
                    addRest(one, written.block(), written.end(), changed);
                }
            }
            return changed;
        };
    }

    private static Change outside(long from, long end) {
        return old -> {
            var changed = new ArrayList<Range>();
            for (Range one : old) {
                addRest(one, from, end, changed);
            }
            return changed;
        };
    }

    /** Adds the parts of a range that lie outside some blocks. */
    private static void addRest(Range one, long from, long end, List<Range> to) {
        if (one.end() <= from || end <= one.block()) {
            to.add(one);
            return;
        }
        if (one.block() < from) {
            to.add(new Range(one.slot(), one.block(), (int) (from - one.block())));
        }
        if (end < one.end()) {
            to.add(new Range(one.slot(), end, (int) (one.end() - end)));
        }
    }
}
