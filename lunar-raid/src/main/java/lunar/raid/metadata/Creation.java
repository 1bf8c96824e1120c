package lunar.raid.metadata;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.Extent;
import lunar.block.InvalidRequestException;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.journal.JournalFormat;
import lunar.raid.metadata.journal.StripeJournal;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.DeviceSignatures;
import lunar.raid.metadata.superblock.SuperblockStore;
import org.jspecify.annotations.Nullable;

/**
 * Creates a volume: writes the metadata of its members. The devices are examined first, and one that holds anything
 * else is refused unless that is forced. The superblocks come last, so an interrupted creation leaves no volume.
 * Blocks.
 */
public final class Creation {
    /**
     * A device that becomes a member.
     *
     * @param uri the device for the operator
     * @param uuid a random UUID
     */
    public record Member(String uri, UUID uuid, BlockDevice device) {}

    /**
     * The properties of a new volume.
     *
     * @param uuid a random UUID
     * @param createdMs the time, in milliseconds since 1970
     * @param chunkBytes bytes of a chunk; 0 for what is good for the level
     * @param journalBytes length of the journal; 0 for what is good for the members' size
     * @param journalKey a random UUID; looked at only where there is a journal
     * @param journalDevice UUID of a device that has the journal; null where members have it, or none
     * @param checksums whether members keep checksums of their blocks; for levels with redundancy
     */
    public record Wish(UUID uuid, String name, long createdMs, Level level,
            Consistency consistency, int chunkBytes, long journalBytes, UUID journalKey,
            @Nullable UUID journalDevice, boolean checksums) {
        /** Without checksums. */
        public Wish(UUID uuid, String name, long createdMs, Level level, Consistency consistency,
                int chunkBytes, long journalBytes, UUID journalKey,
                @Nullable UUID journalDevice) {
            this(uuid, name, createdMs, level, consistency, chunkBytes, journalBytes, journalKey,
                    journalDevice, false);
        }

        /** Returns a wish with the defaults of a level. */
        public static Wish of(UUID uuid, String name, long createdMs, Level level,
                UUID journalKey) {
            return new Wish(uuid, name, createdMs, level, consistencyOf(level), 0, 0, journalKey,
                    null);
        }

        /** Returns this wish with checksums, or without. */
        public Wish withChecksums(boolean has) {
            return new Wish(uuid, name, createdMs, level, consistency, chunkBytes, journalBytes,
                    journalKey, journalDevice, has);
        }
    }

    private static final int CLEARING_BYTES = 64 << 10;
    private static final int LARGE_ROW_BYTES = 128 << 10;

    private Creation() {}

    /** The best that a level can do against crashes. */
    public static Consistency consistencyOf(Level level) {
        if (level.hasParity()) {
            return Consistency.JOURNAL;
        }
        return level.isRedundant() ? Consistency.BITMAP : Consistency.NONE;
    }

    /** Returns what creating a volume would destroy on a device, after "it has"; empty where nothing is known. */
    public static Optional<String> occupant(BlockDevice device) throws StorageException {
        return DeviceSignatures.on(device);
    }

    /**
     * Makes the volume; its data are whatever the members have, and redundancy is to be made true from stripe 0 on.
     *
     * @param force whether what is on the devices may be destroyed
     * @throws InvalidRequestException when a device is too small, is named twice or is in other use; one line that
     *         says what to do
     * @throws IllegalArgumentException when the level does not take such members; one line, too
     */
    public static VolumeRecord create(Wish wish, List<Member> members, boolean force)
            throws StorageException {
        return create(wish, members, List.of(), force);
    }

    /**
     * Makes a volume that has spares from the beginning.
     *
     * @param spares each at least as large as every member
     */
    public static VolumeRecord create(Wish wish, List<Member> members, List<Member> spares,
            boolean force) throws StorageException {
        VolumeRecord record = plan(wish, members);
        for (Member spare : spares) {
            record = record.withSpare(spare.uuid(), Spares.dataBlocks(record.description(),
                    record.members().subList(0, members.size()), spare.uri(), spare.device()));
        }
        var all = new ArrayList<Member>(members);
        all.addAll(spares);
        if (!force) {
            for (Member member : all) {
                refuseOccupied(member.uri(), member.device());
            }
        }
        for (Member member : all) {
            clear(member.device(), record.description().layout());
        }
        for (int index = 0; index < members.size(); index++) {
            writePages(record, index, members.get(index).device());
        }
        for (int index = 0; index < all.size(); index++) {
            new SuperblockStore(all.get(index).device()).write(new Superblock(1, index, record));
        }
        refuseDoubled(all);
        return record;
    }

    private static void refuseOccupied(String uri, BlockDevice device) throws StorageException {
        Optional<String> occupant = occupant(device);
        if (occupant.isPresent()) {
            throw new InvalidRequestException(uri + " has " + occupant.get()
                    + ", which would be destroyed: name another device, or force it");
        }
    }

    private static VolumeRecord plan(Wish wish, List<Member> members)
            throws InvalidRequestException {
        if (members.isEmpty()) {
            throw new InvalidRequestException("a volume has members: name some devices");
        }
        int blockSize = members.getFirst().device().blockSize();
        long smallest = Long.MAX_VALUE;
        for (Member member : members) {
            if (member.device().blockSize() != blockSize) {
                throw new InvalidRequestException(member.uri() + " has blocks of "
                        + member.device().blockSize() + " bytes, and "
                        + members.getFirst().uri() + " of " + blockSize
                        + ": all must have the same");
            }
            smallest = Math.min(smallest, member.device().sizeBytes());
        }
        // An entry must have room for a block of each member.
        long least = (long) members.size() * blockSize > LARGE_ROW_BYTES
                ? 2 * MetadataLayout.ALIGNMENT_BYTES
                : MetadataLayout.ALIGNMENT_BYTES;
        long journalBytes = Math.max(least, wish.journalBytes() > 0
                ? wish.journalBytes()
                : MetadataLayout.journalLengthBytes(smallest));
        int chunkBytes = wish.chunkBytes() > 0
                ? wish.chunkBytes()
                : Shape.defaultChunkBytes(wish.level());
        var layout = MetadataLayout.of(wish.consistency(), journalBytes,
                wish.journalDevice() == null
                        ? sections(wish.level(), journalBytes, members.size(), blockSize,
                                chunkBytes)
                        : 0);
        if (wish.checksums()) {
            if (wish.consistency() == Consistency.NONE) {
                throw new InvalidRequestException("checksums need redundancy to repair from, and"
                        + " " + wish.level() + " has none: leave them out, or take another level");
            }
            layout = layout.withChecksums(smallest, blockSize);
        }
        var room = new ArrayList<Long>();
        for (Member member : members) {
            long blocks = layout.dataBlocks(member.device().sizeBytes(), blockSize);
            if (blocks <= 0) {
                throw new InvalidRequestException(member.uri() + " is too small: of its "
                        + Size.format(member.device().sizeBytes()) + " the metadata take "
                        + Size.format(layout.dataBytes()));
            }
            room.add(blocks);
        }
        Shape shape = Shape.fitting(wish.level(), blockSize, chunkBytes / blockSize, room);
        Layout where = Layout.of(shape);
        boolean bitmap = wish.consistency() != Consistency.NONE;
        boolean journal = wish.consistency() == Consistency.JOURNAL;
        var description = new VolumeDescription(wish.uuid(), wish.name(), wish.createdMs(),
                wish.level(), blockSize, shape.chunkBlocks(), members.size(),
                where.volumeBlocks(), wish.consistency(),
                bitmap ? IntentBitmap.regionStripes(where.stripes()) : 0,
                journal ? wish.journalKey() : MemberRecord.NIL_UUID, wish.journalDevice(), layout);
        var table = new ArrayList<MemberRecord>();
        for (int slot = 0; slot < members.size(); slot++) {
            table.add(MemberRecord.active(members.get(slot).uuid(),
                    shape.memberBlocks().get(slot)));
        }
        return VolumeRecord.of(description, table);
    }

    /** Sections of a new journal: an entry has room for a chunk and its parity, and for a block of each member. */
    private static int sections(Level level, long journalBytes, int slots, int blockSize,
            int chunkBytes) {
        long data = Math.max((long) slots * blockSize,
                (long) MetadataLayout.journalCopies(level) * chunkBytes);
        long entry = JournalFormat.maxHeadBytes() + data;
        return MetadataLayout.journalSections(journalBytes, slots,
                MetadataLayout.journalCopies(level),
                (int) Math.min(StripeJournal.maxEntryBytes(slots), roundedUp(entry)));
    }

    private static long roundedUp(long bytes) {
        return Math.ceilDiv(bytes, JournalFormat.WRITE_BYTES) * JournalFormat.WRITE_BYTES;
    }

    /**
     * Takes away what is in the metadata area of a device, as a member that comes new to a volume needs it, and marks
     * at its end that others would look for. Where the device is thin, superblock, pages and journal get their space.
     */
    public static void clear(BlockDevice device, MetadataLayout layout) throws StorageException {
        boolean marked = DeviceSignatures.atEnd(device).isPresent();
        fill(device, 0, Math.min(MetadataLayout.ALIGNMENT_BYTES, layout.dataBytes()));
        for (int i = 0; layout.journalBytes() > 0 && i < layout.journalSections(); i++) {
            fill(device, layout.sectionBytes(i), JournalFormat.RING_AT);
        }
        allocate(device, layout.journalBytes(), layout.journalLengthBytes());
        if (marked) {
            long from = (device.sizeBytes() - DeviceSignatures.TAIL_BYTES) / 4096 * 4096;
            fill(device, Math.max(from, layout.dataBytes()),
                    device.sizeBytes() - Math.max(from, layout.dataBytes()));
        }
        device.flush();
    }

    /** Zeroes where the device has no space for blocks yet, so that it cannot lack any for them later. */
    private static void allocate(BlockDevice device, long fromBytes, long bytes)
            throws StorageException {
        long end = (fromBytes + bytes) / device.blockSize();
        for (long block = fromBytes / device.blockSize(); block < end;) {
            Extent extent = device.extent(block);
            long next = Math.min(end, block + extent.blockCount());
            if (!extent.allocated()) {
                fill(device, block * device.blockSize(), (next - block) * device.blockSize());
            }
            block = next;
        }
    }

    private static void fill(BlockDevice device, long fromBytes, long bytes)
            throws StorageException {
        MemorySegment zeroes = Arena.ofAuto().allocate(CLEARING_BYTES, 4096);
        for (long at = 0; at < bytes; at += CLEARING_BYTES) {
            ChunkedTransfer.write(device, fromBytes + at,
                    zeroes.asSlice(0, Math.min(CLEARING_BYTES, bytes - at)));
        }
    }

    /** All pages but the superblock, of a device that is clear. */
    static void writePages(VolumeRecord record, int index, BlockDevice device)
            throws StorageException {
        VolumeDescription what = record.description();
        var page = new Page();
        if (what.consistency() != Consistency.NONE) {
            IntentBitmap.fillBlank(record, 1, page);
            new PagePair(device, what.layout().bitmapBytes()).write(page);
        }
        BadBlocks.fillBlank(record, 1, page);
        new PagePair(device, what.layout().badBlocksBytes()).write(page);
        if (what.layout().journalBytes() > 0) {
            VolumeJournal.createCopies(record, index, device);
        }
    }

    /** Erases the superblocks and refuses a device that is named twice: it has the one that was written last. */
    private static void refuseDoubled(List<Member> members) throws StorageException {
        for (int index = 0; index < members.size(); index++) {
            if (new SuperblockStore(members.get(index).device())
                    .read() instanceof SuperblockReading.Found(Superblock found)
                    && found.index() != index) {
                for (Member member : members) {
                    new SuperblockStore(member.device()).erase();
                }
                throw new InvalidRequestException(members.get(index).uri() + " and "
                        + members.get(found.index()).uri()
                        + " are the same device: name each once");
            }
        }
    }

    /** Writes an empty journal to a device of its own. */
    public static void createJournal(VolumeRecord record, String uri, BlockDevice device,
            boolean force) throws StorageException {
        VolumeDescription what = record.description();
        if (what.journalDevice() == null) {
            throw new InvalidRequestException("volume " + what.title()
                    + " has no journal on a device of its own");
        }
        if (device.blockSize() != what.blockSize()
                || device.sizeBytes() < what.layout().journalLengthBytes()) {
            throw new InvalidRequestException(uri + " has " + Size.format(device.sizeBytes())
                    + " in blocks of " + device.blockSize() + " bytes; the journal needs "
                    + Size.format(what.layout().journalLengthBytes()) + " in blocks of "
                    + what.blockSize());
        }
        if (!force) {
            refuseOccupied(uri, device);
        }
        fill(device, 0, Math.min(DeviceSignatures.HEAD_BYTES, device.sizeBytes()));
        allocate(device, 0, what.layout().journalLengthBytes());
        VolumeJournal.createCopies(record, 0, device);
    }

    /** Takes a member out of whatever volume it is in: nothing takes it for a member afterwards. */
    public static void destroy(BlockDevice device) throws StorageException {
        new SuperblockStore(device).erase();
    }

    /** Notes in the superblock of a new member that its volume is redundant as it is, and needs no resync. Blocks. */
    public static void assumeClean(BlockDevice device) throws StorageException {
        var store = new SuperblockStore(device);
        if (store.read() instanceof SuperblockReading.Found(Superblock found)) {
            store.write(new Superblock(found.generation() + 1, found.index(),
                    found.volume().withResyncNext(VolumeRecord.IN_SYNC)));
        }
    }
}
