package lunar.raid.metadata.journal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.metadata.journal.JournalFormat.Part;
import lunar.raid.metadata.journal.SectionReader.Found;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * Opens the journal of a volume and does what it says, one section after the other: each stripe has its entries in one.
 * First every copy gets the entries that it lacks: a crash in the middle of this, with the loss of a member, must not
 * leave a part of an entry in place. Then data are written in place, in order, but for stripes that were noted later;
 * the journal begins anew only when all that is stable. Blocks.
 */
public final class JournalReplay {
    /** The intent bitmap's part in a replay. */
    public interface Regions {
        /** Whether writes in place may have begun in this stripe's region: its bit was stable. */
        boolean mayBeWritten(long stripe);

        /** These stripes will be written: members that are away, and come back, must get them. */
        void mark(Collection<Long> changed) throws StorageException;
    }

    /** No bitmap: every stripe may have been written. */
    public static final Regions ANY = new Regions() {
        @Override
        public boolean mayBeWritten(long stripe) { return true; }

        @Override
        public void mark(Collection<Long> changed) {}
    };

    /**
     * A stripe that may be written in part.
     *
     * @param intact the slots, as bits, whose unit is as it was to be written
     */
    public record Torn(long stripe, long intact) {}

    private final VolumeRecord volume;
    private final MemberSet holders;
    private final MemberSet members;
    private final long inSync;
    private final int blockSize;
    private final MemorySegment buffer = Arena.ofAuto().allocate(SectionReader.WINDOW_BYTES,
            JournalFormat.WRITE_BYTES);
    private final CRC32C crc = new CRC32C();
    private final List<SectionReader> sections = new ArrayList<>();
    private int replayed;
    private boolean lacksSpace;
    private List<Torn> torn = List.of();

    private JournalReplay(VolumeRecord volume, MemberSet holders, MemberSet members,
            long inSync) {
        this.volume = volume;
        this.holders = holders;
        this.members = members;
        this.inSync = inSync;
        blockSize = volume.description().blockSize();
    }

    /**
     * Replays, unless the volume was stopped in order. What is in the journal stays there until {@link #begin}: after a
     * crash before that all is done again.
     *
     * @param holders the devices with copies: the members, or a set with the one device of its own
     * @param trusted slots of the holders that are in sync, as bits: only their copies count
     * @param members the members to be written in place: in sync, or being rebuilt
     * @param inSync slots of the members that have all data, as bits
     * @throws MediumException where no copy can be found: the journal is lost
     * @throws NoSpaceException where a member has no space for an entry of a stripe that has lost a unit
     * @throws StorageException where a member fails, which is to be left out then
     */
    public static JournalReplay of(VolumeRecord volume, MemberSet holders, long trusted,
            MemberSet members, long inSync, Regions regions) throws StorageException {
        var replay = new JournalReplay(volume, holders, members, inSync);
        for (int i = 0; i < volume.description().layout().journalSections(); i++) {
            replay.sections
                    .add(new SectionReader(volume, i, holders, trusted, replay.buffer));
        }
        if (volume.clean()) { // all is in place; a block that cannot be read since then is not torn
            return replay;
        }
        replay.completeCopies();
        List<Found> notes = replay.notesInPlace(regions);
        replay.apply(regions);
        replay.look(notes);
        replay.flush(members);
        return replay;
    }

    /** Returns how many entries had their data written in place. */
    public int replayed() {
        return replayed;
    }

    /** Whether a member had no space for a part of an entry: the redundancy of its stripe, no more, may be wrong. */
    public boolean lacksSpace() {
        return lacksSpace;
    }

    /**
     * Stripes that may be written in part, and are to be mended before the journal begins anew. Where the intact units
     * suffice, the others are computed from them. Otherwise parity is made from the data, and what is on missing
     * members, or cannot be read, is lost, and becomes bad blocks.
     */
    public List<Torn> torn() { return torn; }

    /**
     * Begins the journal anew, with nothing in it, when torn stripes have been mended and that is stable.
     *
     * @param candidates slots of the holders that may have copies from now on, as bits: of each section one more than
     *        the level can lose, where there are so many
     */
    public VolumeJournal begin(long candidates) throws StorageException {
        return new VolumeJournal(volume, holders, members,
                (section, flush) -> sections.get(section).begin(candidates, flush));
    }

    private static BlockDevice device(MemberSet set, int slot) {
        BlockDevice device = set.device(slot);
        if (device == null) {
            throw new IllegalArgumentException("no device in slot " + slot);
        }
        return device;
    }

    private void completeCopies() throws StorageException {
        boolean any = false;
        for (SectionReader section : sections) {
            any |= section.completeCopies();
        }
        if (any) {
            flush(holders);
        }
    }

    /** Returns the notes that count and for which writes may have begun: before that the stripe is as it was. */
    private List<Found> notesInPlace(Regions regions) {
        return sections.stream().flatMap(section -> section.latestNotes().values().stream())
                .filter(note -> regions.mayBeWritten(note.stripe())).toList();
    }

    private void apply(Regions regions) throws StorageException {
        regions.mark(sections.stream().flatMap(section -> section.due().stream())
                .map(Found::stripe).toList());
        for (SectionReader section : sections) {
            for (Found entry : section.due()) {
                apply(entry, section.load(entry));
                replayed++;
            }
        }
    }

    private void apply(Found entry, MemorySegment data) throws StorageException {
        long dataAt = 0;
        for (Part part : entry.head().parts()) {
            long length = (long) part.blocks() * blockSize;
            if ((members.active() & 1L << part.slot()) != 0) {
                try {
                    ChunkedTransfer.write(device(members, part.slot()), dataBytes(part),
                            data.asSlice(dataAt, length));
                } catch (NoSpaceException e) {
                    if (isToBeThere(part.slot(), entry.stripe())) { // else the rebuild will write it
                        requireWhole(entry, part, e);
                        lacksSpace = true;
                    }
                }
            }
            dataAt += length;
        }
    }

    /**
     * Where all units are there a resync makes the redundancy true. Where one is lost the redundancy is all there is of
     * it, and would give something else: then the entry stays until all of it can be in place.
     */
    private void requireWhole(Found entry, Part part, NoSpaceException why)
            throws NoSpaceException {
        for (int slot = 0; slot < volume.description().slots(); slot++) {
            if (!isToBeThere(slot, entry.stripe())) {
                throw NoSpaceAtStart.of(volume, part.slot(), "a write to stripe " + entry.stripe()
                        + " that the journal has, and slot " + slot + " is lost", why);
            }
        }
    }

    private long dataBytes(Part part) {
        return volume.description().layout().dataBytes() + part.memberBlock() * blockSize;
    }

    /** Finds noted stripes that are not completely in place. */
    private void look(List<Found> notes) throws StorageException {
        var found = new ArrayList<Torn>();
        for (Found note : notes) {
            long there = 0;
            long wrong = 0;
            for (Part part : note.head().parts()) {
                if (isToBeThere(part.slot(), note.stripe())) {
                    boolean isUnit = part.blocks() == volume.description().chunkBlocks();
                    there |= isUnit ? 1L << part.slot() : 0;
                    wrong |= isInPlace(part) ? 0 : 1L << part.slot();
                }
            }
            if (wrong != 0) {
                found.add(new Torn(note.stripe(), there & ~wrong));
            }
        }
        found.sort(Comparator.comparingLong(Torn::stripe));
        torn = List.copyOf(found);
    }

    /** A member that is being rebuilt has its part of the stripes before its checkpoint. */
    private boolean isToBeThere(int slot, long stripe) {
        return (inSync & 1L << slot) != 0
                || ((members.active() & 1L << slot) != 0 && volume.hasRebuilt(slot, stripe));
    }

    private boolean isInPlace(Part part) throws StorageException {
        crc.reset();
        long left = (long) part.blocks() * blockSize;
        long at = dataBytes(part);
        while (left > 0) {
            MemorySegment piece = buffer.asSlice(0,
                    Math.min(left, JournalFormat.MAX_ENTRY_BYTES));
            try {
                ChunkedTransfer.read(device(members, part.slot()), at, piece);
            } catch (MediumException _) { // torn by the crash, as some disks do
                return false;
            }
            crc.update(piece.asByteBuffer());
            left -= piece.byteSize();
            at += piece.byteSize();
        }
        return (int) crc.getValue() == part.checksum();
    }

    private void flush(MemberSet set) throws StorageException {
        for (long left = set.active(); left != 0; left &= left - 1) {
            device(set, Long.numberOfTrailingZeros(left)).flush();
        }
    }
}
