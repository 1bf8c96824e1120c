package lunar.raid.metadata.journal;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.metadata.journal.JournalFormat.Head;
import lunar.raid.metadata.journal.JournalFormat.Kind;
import lunar.raid.metadata.journal.JournalFormat.Part;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * A section of the journal as it is found on its copies. Entries are taken from the tail on, as long as one copy has
 * the next one whole. Blocks.
 */
final class SectionReader {
    /** An entry in the ring. */
    record Found(long position, Head head) {
        long stripe() { return head.stripe(); }
    }

    /** Bytes of memory that a reading needs; readings that are not used at once may share it. */
    static final int WINDOW_BYTES = JournalFormat.MAX_ENTRY_BYTES + 2 * JournalFormat.WRITE_BYTES;

    private static final int HEAD_WINDOW_BYTES = 2 * JournalFormat.WRITE_BYTES;

    private final VolumeRecord volume;
    private final int section;
    private final MemberSet holders;
    private final long trusted;
    private final UUID key;
    private final long pageAtBytes;
    private final long ringAtBytes;
    private final long ringBytes;
    private final MemorySegment buffer;
    private final CRC32C crc = new CRC32C();
    /** Slots of the holders that have a page of this section, as bits. */
    private long sources;
    private long position;
    private long sequence;
    /** Of the newest page. */
    private long generation;
    private final List<Found> entries;

    /**
     * Finds the entries that count.
     *
     * @param holders the devices with copies: the members, or a set with the one device of its own
     * @param trusted slots of the holders that are in sync, as bits: only their copies count
     * @throws MediumException where no copy can be found: the journal is lost
     */
    SectionReader(VolumeRecord volume, int section, MemberSet holders, long trusted,
            MemorySegment buffer) throws MediumException {
        this.volume = volume;
        this.section = section;
        this.holders = holders;
        this.trusted = trusted;
        this.buffer = buffer;
        VolumeDescription what = volume.description();
        key = what.journalKey();
        pageAtBytes = what.layout().sectionBytes(section);
        ringAtBytes = pageAtBytes + JournalFormat.RING_AT;
        ringBytes = what.layout().ringBytes();
        findTail();
        entries = chain();
    }

    /** Makes a section with nothing in it. */
    static void create(VolumeRecord volume, int section, BlockDevice holder)
            throws StorageException {
        VolumeDescription what = volume.description();
        var page = new Page();
        StripeJournal.fillPage(page.clear(), what.journalKey(), what.layout().ringBytes(), 0, 1);
        page.seal(JournalFormat.PAGE_MAGIC, JournalFormat.FORMAT_VERSION, 1, what.uuid());
        new PagePair(holder, what.layout().sectionBytes(section)).write(page);
    }

    /** The entries that count, in their order. */
    List<Found> entries() { return entries; }

    /** Of each stripe that has notes the last one. */
    Map<Long, Found> latestNotes() {
        var notes = new HashMap<Long, Found>();
        for (Found entry : entries) {
            if (entry.head().kind() == Kind.NOTE) {
                notes.put(entry.stripe(), entry);
            }
        }
        return notes;
    }

    /** Data that are to be written in place, in their order: not those of stripes that were noted later. */
    List<Found> due() {
        Map<Long, Found> notes = latestNotes();
        var due = new ArrayList<Found>();
        for (Found entry : entries) {
            Found note = notes.get(entry.stripe());
            if (entry.head().kind() == Kind.DATA
                    && (note == null || note.head().sequence() < entry.head().sequence())) {
                due.add(entry);
            }
        }
        return due;
    }

    private BlockDevice holder(int slot) {
        BlockDevice device = holders.device(slot);
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
                    + " is lost: none of its members has a copy"
                    + (volume.description().layout().journalSections() > 1
                            ? " of its section " + section
                            : ""));
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
        var found = new ArrayList<Found>();
        while (found.size() < JournalFormat.MAX_ENTRIES) {
            Head head = null;
            for (long left = sources; left != 0 && head == null; left &= left - 1) {
                head = head(Long.numberOfTrailingZeros(left), position, sequence);
            }
            if (head == null) {
                break;
            }
            found.add(new Found(position, head));
            position = (position + head.lengthBytes()) % ringBytes;
            sequence++;
        }
        if (!found.isEmpty()) {
            long tail = found.getLast().head().tailSequence();
            found.removeIf(entry -> entry.head().sequence() < tail);
        }
        return found;
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
            int length = part.blocks() * volume.description().blockSize();
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
        ChunkedTransfer.read(holder(slot), ringAtBytes + from, window);
        return buffer.asSlice(at - from, end - at).asByteBuffer();
    }

    private MemorySegment window(long from, long end) {
        long until = Math.ceilDiv(end, JournalFormat.WRITE_BYTES) * JournalFormat.WRITE_BYTES;
        return buffer.asSlice(0, until - from);
    }

    /**
     * Every copy gets the entries that it lacks; not flushed.
     *
     * @return whether any was written
     */
    boolean completeCopies() throws StorageException {
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
        return any;
    }

    /** The data of an entry, one extent after the other; until the next call. */
    MemorySegment load(Found entry) throws StorageException {
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
        return buffer.asSlice(dataAt, head.lengthBytes() - head.headBytes());
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
        ChunkedTransfer.write(holder(slot), ringAtBytes + from, window(from, at + bytes.length));
    }

    /**
     * Begins the section anew, with nothing in it.
     *
     * @param candidates slots of the holders that may have copies from now on, as bits
     */
    StripeJournal begin(long candidates, JournalFlush flush) throws StorageException {
        long copies = VolumeJournal.copies(volume.description(), section, holders.slots(),
                candidates);
        // A torn batch may have left whole entries behind the end: their numbers must not come again.
        sequence += 2L * JournalFormat.MAX_ENTRIES;
        // It may also have ended in the middle of a write; the next one begins where writes do.
        position = Math.ceilDiv(position, JournalFormat.WRITE_BYTES) * JournalFormat.WRITE_BYTES
                % ringBytes;
        writePages(copies);
        forget(trusted & ~copies);
        var journal = new StripeJournal(volume, section, holders, copies, flush, position,
                sequence);
        journal.page().read();
        return journal;
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
