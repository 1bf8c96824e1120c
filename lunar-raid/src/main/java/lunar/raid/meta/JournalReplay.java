package lunar.raid.meta;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.meta.JournalFormat.Head;
import lunar.raid.meta.JournalFormat.Kind;
import lunar.raid.meta.JournalFormat.Part;
import org.jspecify.annotations.Nullable;

/**
 * Opens the journal of a volume and does what it says. Entries are taken from the tail on, as long as one copy has the
 * next one whole. First every copy gets those that it lacks: a crash in the middle of this, with the loss of a member,
 * must not leave a part of an entry in place. Then data are written in place, in order, but for stripes that were
 * noted later; the journal begins anew only when all that is stable. Blocks.
 */
public final class JournalReplay {
    /** What the intent bitmap has to do with it. */
    interface Regions {
        /** Whether writes in place may have begun in this stripe's region: its bit was stable. */
        boolean mayBeWritten(long stripe);

        /** These stripes will be written: members that are away, and come back, must get them. */
        void mark(Collection<Long> changed) throws StorageException;
    }

    /** Without a bitmap anything may have been written. */
    static final Regions ANY = new Regions() {
        @Override
        public boolean mayBeWritten(long stripe) { return true; }

        @Override
        public void mark(Collection<Long> changed) {}
    };

    /** An entry in the ring. */
    private record Found(long position, Head head) {}

    private static final int WINDOW_BYTES = JournalFormat.MAX_ENTRY_BYTES
            + 2 * JournalFormat.WRITE_BYTES;
    private static final int HEAD_WINDOW_BYTES = 2 * JournalFormat.WRITE_BYTES;

    private final VolumeRecord volume;
    private final MemberSet holders;
    private final long trusted;
    private final MemberSet members;
    private final UUID key;
    private final long pageAtBytes;
    private final long ringAtBytes;
    private final long ringBytes;
    private final int blockSize;
    private final MemorySegment buffer = Arena.ofAuto().allocate(WINDOW_BYTES,
            JournalFormat.WRITE_BYTES);
    private final CRC32C crc = new CRC32C();
    /** Slots of the holders that have a page of this journal, as bits. */
    private long sources;
    private long position;
    private long sequence;
    /** Of the newest page. */
    private long generation;
    private int replayed;
    private List<Long> torn = List.of();

    private JournalReplay(VolumeRecord volume, MemberSet holders, long trusted,
            MemberSet members) {
        this.volume = volume;
        this.holders = holders;
        this.trusted = trusted;
        this.members = members;
        VolumeDescription what = volume.description();
        key = what.journalKey();
        pageAtBytes = what.layout().journalBytes();
        ringAtBytes = pageAtBytes + JournalFormat.RING_AT;
        ringBytes = what.layout().journalLengthBytes() - JournalFormat.RING_AT;
        blockSize = what.blockSize();
    }

    /**
     * Replays, unless the volume was stopped in order. What is in the journal stays there until {@link #begin}: after a
     * crash before that all is done again.
     *
     * @param holders who has copies: the members, or a set with the one device of its own
     * @param trusted slots of the holders whose copies count, as bits: members that are in sync
     * @param members those to be written in place: in sync, or being rebuilt
     * @param inSync slots of the members that have all data, as bits
     * @throws MediumException where no copy can be found: the journal is lost
     * @throws StorageException where a member fails, which is to be left out then
     */
    static JournalReplay of(VolumeRecord volume, MemberSet holders, long trusted,
            MemberSet members, long inSync, Regions regions) throws StorageException {
        var replay = new JournalReplay(volume, holders, trusted, members);
        replay.findTail();
        List<Found> entries = replay.chain();
        if (volume.clean()) { // all is in place; a block that cannot be read since then is not torn
            return replay;
        }
        replay.completeCopies(entries);
        List<Found> notes = replay.notesInPlace(entries, regions);
        replay.apply(entries, regions);
        replay.look(notes, inSync);
        replay.flush(members);
        return replay;
    }

    /** Entries whose data were written in place. */
    public int replayed() { return replayed; }

    /**
     * Stripes that may be written in part, and are to be mended before the journal begins anew. Where no member is
     * missing, parity is made from the data; else what is on the missing members is lost, and becomes bad blocks.
     */
    public List<Long> torn() { return torn; }

    /**
     * Begins the journal anew, with nothing in it, when torn stripes have been mended and that is stable.
     *
     * @param copies slots of the holders that have copies from now on, as bits: one more than the level can lose
     */
    public StripeJournal begin(long copies) throws StorageException {
        // A torn batch may have left whole entries behind the end: their numbers must not come again.
        sequence += 2L * JournalFormat.MAX_ENTRIES;
        writePages(copies);
        forget(trusted & ~copies);
        var journal = new StripeJournal(volume, holders, copies, members, position, sequence);
        journal.page().read();
        return journal;
    }

    /** Makes a journal with nothing in it. Blocks. */
    static void create(VolumeRecord volume, BlockDevice holder) throws StorageException {
        VolumeDescription what = volume.description();
        var page = new Page();
        StripeJournal.fillPage(page.clear(), what.journalKey(),
                what.layout().journalLengthBytes() - JournalFormat.RING_AT, 0, 1);
        page.seal(JournalFormat.PAGE_MAGIC, JournalFormat.FORMAT_VERSION, 1, what.uuid());
        new PagePair(holder, what.layout().journalBytes()).write(page);
    }

    private BlockDevice holder(int slot) { return device(holders, slot); }

    private static BlockDevice device(MemberSet set, int slot) {
        BlockDevice device = set.device(slot);
        if (device == null) {
            throw new IllegalArgumentException("no device in slot " + slot);
        }
        return device;
    }

    private void findTail() throws MediumException {
        boolean found = false;
        for (long left = trusted; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            Page page = page(slot);
            if (page == null) {
                continue;
            }
            sources |= 1L << slot;
            generation = Math.max(generation, page.generation());
            long tailSequence = page.bytes().getLong(JournalFormat.PAGE_TAIL_SEQUENCE);
            if (!found || tailSequence > sequence) {
                found = true;
                sequence = tailSequence;
                position = page.bytes().getLong(JournalFormat.PAGE_TAIL_POSITION);
            }
        }
        if (!found) {
            throw new MediumException("the journal of volume " + volume.description().title()
                    + " is lost: none of its members has a copy");
        }
    }

    private @Nullable Page page(int slot) {
        try {
            return new PagePair(holder(slot), pageAtBytes).read(this::isMine);
        } catch (StorageException _) {
            return null;
        }
    }

    private boolean isMine(Page page) {
        ByteBuffer bytes = page.bytes();
        long tail = bytes.getLong(JournalFormat.PAGE_TAIL_POSITION);
        return page.hasMagic(JournalFormat.PAGE_MAGIC) && page.isWhole()
                && page.version() == JournalFormat.FORMAT_VERSION
                && page.volume().equals(volume.description().uuid())
                && Page.uuid(bytes, JournalFormat.PAGE_KEY).equals(key)
                && bytes.getLong(JournalFormat.PAGE_RING_BYTES) == ringBytes && tail >= 0
                && tail < ringBytes && tail % JournalFormat.UNIT_BYTES == 0
                && page.generation() < Page.MAX_GENERATION
                && bytes.getLong(JournalFormat.PAGE_TAIL_SEQUENCE) > 0
                && bytes.getLong(JournalFormat.PAGE_TAIL_SEQUENCE) < Page.MAX_GENERATION;
    }

    /** The entries that count, from the tail that the last one names on. The end is known afterwards. */
    private List<Found> chain() {
        var entries = new ArrayList<Found>();
        while (entries.size() < JournalFormat.MAX_ENTRIES) {
            Head head = null;
            for (long left = sources; left != 0 && head == null; left &= left - 1) {
                head = head(Long.numberOfTrailingZeros(left), position, sequence);
            }
            if (head == null) {
                break;
            }
            entries.add(new Found(position, head));
            position = (position + head.lengthBytes()) % ringBytes;
            sequence++;
        }
        if (!entries.isEmpty()) {
            long tail = entries.getLast().head().tailSequence();
            entries.removeIf(entry -> entry.head().sequence() < tail);
        }
        return entries;
    }

    /** The entry of this number at this position, if this holder has it whole; the buffer has it then. */
    private @Nullable Head head(int slot, long at, long number) {
        try {
            ByteBuffer bytes = read(slot, at, HEAD_WINDOW_BYTES);
            Head head = JournalFormat.head(bytes, key, volume, ringBytes - at);
            if (head == null || head.sequence() != number) {
                return null;
            }
            return head.kind() != Kind.DATA || hasData(slot, at, head) ? head : null;
        } catch (StorageException _) {
            return null;
        }
    }

    private boolean hasData(int slot, long at, Head head) throws StorageException {
        ByteBuffer bytes = read(slot, at, head.lengthBytes());
        int dataAt = head.headBytes();
        for (Part part : head.parts()) {
            int length = part.blocks() * blockSize;
            if (JournalFormat.checksum(bytes, dataAt, length, crc) != part.checksum()) {
                return false;
            }
            dataAt += length;
        }
        return true;
    }

    /** Bytes of the ring from a position on, fewer where it ends. */
    private ByteBuffer read(int slot, long at, int lengthBytes) throws StorageException {
        long from = at / JournalFormat.WRITE_BYTES * JournalFormat.WRITE_BYTES;
        long end = Math.min(at + lengthBytes, ringBytes);
        MemorySegment window = window(from, end);
        LongTransfer.read(holder(slot), ringAtBytes + from, window);
        return buffer.asSlice(at - from, end - at).asByteBuffer();
    }

    private MemorySegment window(long from, long end) {
        long until = Math.ceilDiv(end, JournalFormat.WRITE_BYTES) * JournalFormat.WRITE_BYTES;
        return buffer.asSlice(0, until - from);
    }

    private void completeCopies(List<Found> entries) throws StorageException {
        boolean any = false;
        for (Found entry : entries) {
            long lacking = 0;
            byte[] whole = null;
            for (long left = sources; left != 0; left &= left - 1) {
                int slot = Long.numberOfTrailingZeros(left);
                if (head(slot, entry.position(), entry.head().sequence()) == null) {
                    lacking |= 1L << slot;
                } else if (whole == null) {
                    whole = bytes(slot, entry);
                }
            }
            for (long left = lacking; left != 0 && whole != null; left &= left - 1) {
                rewrite(Long.numberOfTrailingZeros(left), entry.position(), whole);
                any = true;
            }
        }
        if (any) {
            flush(holders);
        }
    }

    private byte[] bytes(int slot, Found entry) throws StorageException {
        Head head = entry.head();
        int length = head.kind() == Kind.DATA ? head.lengthBytes() : head.headBytes();
        var bytes = new byte[length];
        read(slot, entry.position(), length).get(0, bytes);
        return bytes;
    }

    private void rewrite(int slot, long at, byte[] bytes) throws StorageException {
        read(slot, at, bytes.length).put(0, bytes);
        long from = at / JournalFormat.WRITE_BYTES * JournalFormat.WRITE_BYTES;
        LongTransfer.write(holder(slot), ringAtBytes + from, window(from, at + bytes.length));
    }

    private Map<Long, Found> latestNotes(List<Found> entries) {
        var notes = new HashMap<Long, Found>();
        for (Found entry : entries) {
            if (entry.head().kind() == Kind.NOTE) {
                notes.put(entry.head().stripe(), entry);
            }
        }
        return notes;
    }

    /** Notes that count and whose writes may have begun: before that the stripe is as it was. */
    private List<Found> notesInPlace(List<Found> entries, Regions regions) {
        return latestNotes(entries).values().stream()
                .filter(note -> regions.mayBeWritten(note.head().stripe())).toList();
    }

    private void apply(List<Found> entries, Regions regions) throws StorageException {
        Map<Long, Found> notes = latestNotes(entries);
        var due = new ArrayList<Found>();
        for (Found entry : entries) {
            Found note = notes.get(entry.head().stripe());
            if (entry.head().kind() == Kind.DATA
                    && (note == null || note.head().sequence() < entry.head().sequence())) {
                due.add(entry);
            }
        }
        regions.mark(due.stream().map(entry -> entry.head().stripe()).toList());
        for (Found entry : due) {
            apply(entry);
        }
        replayed = due.size();
    }

    private void apply(Found entry) throws StorageException {
        Head head = entry.head();
        int slot = Long.numberOfTrailingZeros(sources);
        for (long left = sources; left != 0; left &= left - 1) {
            slot = Long.numberOfTrailingZeros(left);
            if (head(slot, entry.position(), head.sequence()) != null) {
                break;
            }
        }
        long from = entry.position() / JournalFormat.WRITE_BYTES * JournalFormat.WRITE_BYTES;
        read(slot, entry.position(), head.lengthBytes());
        long dataAt = entry.position() - from + head.headBytes();
        for (Part part : head.parts()) {
            long length = (long) part.blocks() * blockSize;
            if ((members.active() & 1L << part.slot()) != 0) {
                LongTransfer.write(device(members, part.slot()), dataBytes(part),
                        buffer.asSlice(dataAt, length));
            }
            dataAt += length;
        }
    }

    private long dataBytes(Part part) {
        return volume.description().layout().dataBytes() + part.memberBlock() * blockSize;
    }

    /** Looks for noted stripes of which not all is in place. */
    private void look(List<Found> notes, long inSync) throws StorageException {
        var found = new TreeSet<Long>();
        for (Found note : notes) {
            for (Part part : note.head().parts()) {
                if (isToBeThere(part.slot(), note.head().stripe(), inSync) && !isInPlace(part)) {
                    found.add(note.head().stripe());
                    break;
                }
            }
        }
        torn = List.copyOf(found);
    }

    /** A member that is being rebuilt has its part of the stripes before its checkpoint. */
    private boolean isToBeThere(int slot, long stripe, long inSync) {
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
                LongTransfer.read(device(members, part.slot()), at, piece);
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

    /** The pages name a new tail, which is the end. */
    private void writePages(long copies) throws StorageException {
        for (long left = copies; left != 0; left &= left - 1) {
            var pair = new PagePair(holder(Long.numberOfTrailingZeros(left)), pageAtBytes);
            pair.read(this::isMine);
            var page = new Page();
            StripeJournal.fillPage(page.clear(), key, ringBytes, position, sequence);
            generation++;
            page.seal(JournalFormat.PAGE_MAGIC, JournalFormat.FORMAT_VERSION, generation,
                    volume.description().uuid());
            pair.write(page);
        }
    }

    /** Copies that are not written any more would tell an old story. */
    private void forget(long slots) throws StorageException {
        for (long left = slots & sources; left != 0; left &= left - 1) {
            var pair = new PagePair(holder(Long.numberOfTrailingZeros(left)), pageAtBytes);
            var blank = new Page();
            pair.write(blank);
            pair.write(blank);
        }
    }
}
