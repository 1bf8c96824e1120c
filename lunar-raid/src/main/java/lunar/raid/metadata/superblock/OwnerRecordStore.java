package lunar.raid.metadata.superblock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.MiscompareException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.OwnerRecord;
import org.jspecify.annotations.Nullable;

/**
 * The owner record of one member: a single block at byte 32768, so that a write of it is never torn, and one that
 * compares it with what was read is one COMPARE AND WRITE. Devices without that command compare and write in two
 * steps. Blocks; for one thread at a time.
 */
public final class OwnerRecordStore {
    /** Its offset in bytes. */
    public static final long AT_BYTES = 32 << 10;
    static final long MAGIC = Page.magic("LUNAROWN");
    static final int FORMAT_VERSION = 1;

    private static final int BYTES = 512;
    private static final int VERSION = 8;
    private static final int CHECKSUM = 12;
    private static final int EPOCH = 16;
    private static final int VOLUME = 24;
    private static final int TOKEN = 40;
    private static final int BEAT = 56;
    private static final int STATE = 64;
    private static final int LEASE_MS = 68;
    private static final int KEY = 72;
    private static final int BOOT = 80;
    private static final int PID_NAMESPACE = 96;
    private static final int PID = 104;
    private static final int START_TICKS = 112;
    private static final int UID = 120;
    private static final int HOST = 128;
    private static final int HOST_BYTES = 64;
    private static final int CONTACT = 192;
    private static final int CONTACT_BYTES = 128;

    private static final int IN_USE = 1;
    private static final int RELEASED = 2;
    private static final int CONTROLS = 0x20;

    private final BlockDevice member;
    private final long lba;
    private final int blockSize;
    /** The block as it was read or written last, and the block to write. */
    private final MemorySegment both;
    private boolean isKnown;
    /** The device has refused COMPARE AND WRITE, whatever it said before. */
    private boolean isRefused;

    /** The record of a member, which stays the caller's. */
    public OwnerRecordStore(BlockDevice member) {
        this.member = member;
        blockSize = member.blockSize();
        lba = AT_BYTES / blockSize;
        both = Arena.ofAuto().allocate(2L * blockSize, 4096);
    }

    /** Whether {@link #swap} is one step for every host. */
    public boolean isAtomic() {
        return !isRefused && member.supports(Capability.COMPARE_AND_WRITE)
                && member.comparesForAllHosts()
                && member.limits().maxCompareAndWriteBlocks() > 0;
    }

    /** Whether it is certain what is there, unless another process has written since. */
    public boolean isKnown() {
        return isKnown;
    }

    /** Reads the record; empty where there is no whole one. Whatever a cache has kept of it is not believed. */
    public Optional<OwnerRecord> read() throws StorageException {
        isKnown = false;
        member.forget(lba, 1);
        member.read(lba, known());
        isKnown = true;
        return decode(known().asByteBuffer());
    }

    /**
     * Writes a record in place of what was read or written here last, and of nothing else. It is stable when this
     * returns true.
     *
     * @return false where something else is there meanwhile, or may be after a failure. {@link #read} it, and decide
     *         whether it may be written over
     * @throws StorageException where it may be there or not
     */
    public boolean swap(OwnerRecord next) throws StorageException {
        if (!isKnown) {
            return false;
        }
        MemorySegment fresh = both.asSlice(blockSize, blockSize);
        encode(next, fresh.fill((byte) 0).asByteBuffer());
        boolean done = false;
        if (isAtomic()) {
            try {
                done = swapAtOnce();
            } catch (NotSupportedException _) { // it was reserved when it was asked for what it can
                isRefused = true;
                isKnown = true;
            }
        }
        if (!isAtomic()) {
            done = swapInTwoSteps(fresh);
        }
        if (done) {
            known().copyFrom(fresh);
            isKnown = true;
        }
        return done;
    }

    private boolean swapAtOnce() throws StorageException {
        isKnown = false;
        try {
            member.execute(new BlockRequest().asCompareAndWrite(lba, 1, both, true));
            return true;
        } catch (MiscompareException _) {
            return false;
        }
    }

    private boolean swapInTwoSteps(MemorySegment fresh) throws StorageException {
        MemorySegment before = Arena.ofAuto().allocate(blockSize, 8).copyFrom(known());
        var _ = read();
        isKnown = false;
        if (before.mismatch(known()) >= 0) {
            return false;
        }
        member.writeThrough(lba, fresh);
        return true;
    }

    private MemorySegment known() { return both.asSlice(0, blockSize); }

    // --- bytes ---

    static void encode(OwnerRecord record, ByteBuffer to) {
        to.putLong(0, MAGIC).putInt(VERSION, FORMAT_VERSION).putLong(EPOCH, record.epoch());
        Page.putUuid(to, VOLUME, record.volume());
        Page.putUuid(to, TOKEN, record.token());
        to.putLong(BEAT, record.beat()).putInt(STATE, record.released() ? RELEASED : IN_USE);
        to.putInt(LEASE_MS, record.leaseMs()).putLong(KEY, record.key());
        OwnerRecord.ProcessId process = record.process();
        Page.putUuid(to, BOOT, process.boot());
        to.putLong(PID_NAMESPACE, process.pidNamespace()).putLong(PID, process.pid());
        to.putLong(START_TICKS, process.startTicks()).putInt(UID, process.uid());
        putText(to, HOST, HOST_BYTES, process.host());
        putText(to, CONTACT, CONTACT_BYTES, record.contact());
        to.putInt(CHECKSUM, checksum(to));
    }

    /** Writes a text, or nothing where it does not fit: a cut path is of no use. */
    private static void putText(ByteBuffer to, int at, int room, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= room) {
            to.put(at, bytes);
        }
    }

    static Optional<OwnerRecord> decode(ByteBuffer from) {
        if (from.getLong(0) != MAGIC || from.getInt(CHECKSUM) != checksum(from)
                || from.getInt(VERSION) != FORMAT_VERSION) {
            return Optional.empty();
        }
        var process = new OwnerRecord.ProcessId(Page.uuid(from, BOOT), from.getLong(PID_NAMESPACE),
                from.getLong(PID), from.getLong(START_TICKS), from.getInt(UID),
                text(from, HOST, HOST_BYTES));
        try {
            return Optional.of(new OwnerRecord(Page.uuid(from, VOLUME), from.getLong(EPOCH),
                    Page.uuid(from, TOKEN), from.getLong(BEAT), from.getInt(STATE) == RELEASED,
                    from.getInt(LEASE_MS), from.getLong(KEY), process,
                    text(from, CONTACT, CONTACT_BYTES)));
        } catch (IllegalArgumentException _) { // whole, and yet none of ours
            return Optional.empty();
        }
    }

    /** Returns a text without control characters. */
    private static String text(ByteBuffer from, int at, int room) {
        byte[] bytes = new byte[room];
        from.get(at, bytes);
        int length = 0;
        while (length < room && bytes[length] != 0) {
            length++;
        }
        var text = new StringBuilder(
                new String(bytes, 0, length, StandardCharsets.UTF_8));
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < CONTROLS || Character.isISOControl(text.charAt(i))) {
                text.setCharAt(i, '?');
            }
        }
        return text.toString();
    }

    private static int checksum(ByteBuffer record) {
        ByteBuffer bytes = record.duplicate();
        var crc = new CRC32C();
        crc.update(bytes.clear().limit(CHECKSUM));
        for (int i = 0; i < Integer.BYTES; i++) {
            crc.update(0);
        }
        crc.update(bytes.limit(BYTES).position(CHECKSUM + Integer.BYTES));
        return (int) crc.getValue();
    }

    /** The record of the latest owner of a volume, of several members' records; null where there is none. */
    public static @Nullable OwnerRecord newest(Iterable<Optional<OwnerRecord>> records,
            UUID volume) {
        OwnerRecord newest = null;
        for (Optional<OwnerRecord> one : records) {
            OwnerRecord record = one.filter(it -> it.volume().equals(volume)).orElse(null);
            if (record != null && (newest == null || isNewer(record, newest))) {
                newest = record;
            }
        }
        return newest;
    }

    /** An owner that has begun to release its members uses none of them any more. */
    private static boolean isNewer(OwnerRecord record, OwnerRecord than) {
        if (record.epoch() != than.epoch()) {
            return record.epoch() > than.epoch();
        }
        return record.token().equals(than.token()) ? record.released() : !record.released();
    }
}
