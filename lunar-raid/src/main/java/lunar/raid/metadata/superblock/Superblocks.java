package lunar.raid.metadata.superblock;

import java.util.Arrays;
import java.util.UUID;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.page.Waiter;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * The record of a volume that is in use, and the superblocks of its members, which are changed with it. Changes that
 * are wanted while one is being written go out together in the next one. A change is stable on every member that it
 * does not call FAILED before the next one begins; so a member more than one event behind has missed something.
 *
 * <p>What was written to the members before a change was asked for is stable before it: a checkpoint never tells of
 * more than there is.
 */
public final class Superblocks {
    /** Told when a change is stable. Must neither block nor throw. */
    @FunctionalInterface
    public interface Kept {
        /** @param failure null where it is; else no member is left that would take it */
        void kept(@Nullable StorageException failure);
    }

    /** Each member has a place here, the same as long as it stays; at first its line in the table. */
    private final MemberSet members;
    private final PageWriter writer;
    /** The UUIDs of the members in the places. Guarded by this, as the next two. */
    private final UUID[] who;
    /** The record that the next write has, but for its events. */
    private VolumeRecord record;
    private boolean isStarting;

    private Superblocks(MemberSet members, VolumeRecord record) {
        this.members = members;
        this.record = record;
        who = new UUID[members.slots()];
        Arrays.fill(who, MemberRecord.NOBODY);
        for (int line = 0; line < Math.min(who.length, record.members().size()); line++) {
            who[line] = record.members().get(line).uuid();
        }
        writer = new PageWriter(this, members, this::targets,
                new PageWriter.Place("superblocks", SuperblockCodec.MAGIC,
                        SuperblockCodec.FORMAT_VERSION, record.description().uuid(), 0),
                true, new Content());
    }

    /**
     * The superblocks of a volume that is being put together. A change that was interrupted is finished first: members
     * that have not got the newest record do now. The first change is to be {@link #start}. Blocks.
     *
     * @param members those in sync or being rebuilt; a set of its own, from which one is dropped as soon as it fails
     * @param record the newest record
     * @throws StorageException where a member fails, which is to be left out then
     */
    public static Superblocks open(MemberSet members, VolumeRecord record)
            throws StorageException {
        for (long left = members.active(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            BlockDevice device = members.device(slot);
            if (device != null && slot < record.description().slots()) {
                finish(new SuperblockStore(device), slot, record);
            }
        }
        var superblocks = new Superblocks(members, record);
        synchronized (superblocks) {
            superblocks.writer.read();
        }
        return superblocks;
    }

    private static void finish(SuperblockStore store, int slot, VolumeRecord record)
            throws StorageException {
        long generation = 0;
        if (store.read() instanceof SuperblockReading.Found(Superblock found)) {
            if (found.volume().equals(record)) {
                return;
            }
            generation = found.generation();
        }
        store.write(new Superblock(generation + 1, slot, record));
    }

    private final class Content implements PageWriter.Content {
        @Override
        public void begin() { record = record.next(); }

        @Override
        public void fill(int place, Page page) {
            SuperblockCodec.encode(new Superblock(1, record.lineOf(who[place]), record), page);
        }
    }

    private long targets() {
        long targets = 0;
        for (long left = members.active(); left != 0; left &= left - 1) {
            int line = record.lineOf(who[Long.numberOfTrailingZeros(left)]);
            SlotState state = line < 0 ? SlotState.FAILED : record.members().get(line).state();
            if (state != SlotState.FAILED && !(isStarting && state == SlotState.SPARE)) {
                targets |= Long.lowestOneBit(left);
            }
        }
        return targets;
    }

    /** The line of the table with the member of a place; -1 where it has none. */
    public synchronized int lineAt(int place) {
        return record.lineOf(who[place]);
    }

    /** Returns the UUID of the member in a place. */
    public synchronized UUID at(int place) {
        return who[place];
    }

    /** Whether a member gets the superblocks. */
    public synchronized boolean has(UUID member) {
        int place = place(member);
        return place >= 0 && (members.active() & 1L << place) != 0;
    }

    /** Looks at a device that is to be {@link #add}ed. Blocks. */
    public PageWriter.Known know(BlockDevice device) {
        return writer.know(members.retrying(device));
    }

    /** Adds a member: it gets the superblocks as soon as the table has it. */
    public void add(UUID member, PageWriter.Known known) {
        synchronized (this) {
            int place = place(member);
            for (int i = 0; place < 0 && i < who.length; i++) {
                place = (members.active() & 1L << i) == 0 ? i : -1;
            }
            if (place < 0) { // the table has no more lines, and those that left it are dropped
                throw new IllegalStateException("no place is free");
            }
            who[place] = member;
            known.install(place);
            members.add(place, known.device());
        }
    }

    /** A member gets no superblocks any more. */
    public void drop(UUID member) {
        int place;
        synchronized (this) {
            place = place(member);
        }
        if (place >= 0) {
            members.drop(place);
        }
    }

    private int place(UUID member) {
        return member.equals(MemberRecord.NOBODY) ? -1 : Arrays.asList(who).indexOf(member);
    }

    /** Returns the record of the volume, the latest change included. */
    public synchronized VolumeRecord record() {
        return record;
    }

    /** Changes the record and makes that stable. */
    public void change(UnaryOperator<VolumeRecord> change, Kept kept) {
        synchronized (this) {
            record = change.apply(record);
            writer.join(new Waiter() {
                @Override
                public void stable(@Nullable StorageException failure) { kept.kept(failure); }
            });
        }
        writer.advance();
    }

    /** The volume has failed the member of a line: where a change waits for it since it lost writes, it is dropped. */
    public void dropLost(int line) {
        long places = 0;
        synchronized (this) {
            for (int place = 0; place < who.length; place++) {
                places |= record.lineOf(who[place]) == line ? 1L << place : 0;
            }
        }
        members.dropLost(places);
    }

    /**
     * The volume is in use from now on, and not clean. Counts two events, one after the other: a member that had a
     * change which was never finished, and is away now, shall not be taken for one that is up to date. Blocks.
     *
     * @throws StorageException where a member fails, which is to be left out then
     */
    public void start(UnaryOperator<VolumeRecord> change) throws StorageException {
        synchronized (this) {
            record = change.apply(record).withClean(false);
            isStarting = true;
            try {
                writer.writeNow();
                writer.writeNow();
            } finally {
                isStarting = false;
            }
        }
    }

    /** The volume is not in use any more; all that was written is stable, and all members tell the same. */
    public void stop(Kept kept) {
        change(record -> record.withClean(true), kept);
    }
}
