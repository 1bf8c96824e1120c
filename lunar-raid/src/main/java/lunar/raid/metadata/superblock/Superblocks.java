package lunar.raid.metadata.superblock;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.Completion;
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
    private static final int EVENTS_OF_START = 3;

    /** Each member has a position here that it keeps while it stays; at first the index of its entry in the table. */
    private final MemberSet members;
    private final PageWriter writer;
    /** The UUIDs of the members in the positions. Guarded by this, as the next two. */
    private final UUID[] uuids;
    /** The record that the next write has, but for its events. */
    private VolumeRecord record;
    private boolean isStarting;
    /** Slots that the record calls ACTIVE although changes of it were not written to their members. Guarded by this. */
    private long missing;

    private Superblocks(MemberSet members, VolumeRecord record) {
        this.members = members;
        this.record = record;
        uuids = new UUID[members.slots()];
        Arrays.fill(uuids, MemberRecord.NIL_UUID);
        for (int index = 0; index < Math.min(uuids.length, record.members().size()); index++) {
            uuids[index] = record.members().get(index).uuid();
        }
        writer = new PageWriter(this, members, this::targets,
                new PageWriter.Location("superblocks", SuperblockCodec.MAGIC,
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
        public void begin() {
            noteMissing();
            record = record.next();
        }

        @Override
        public void fill(int position, Page page) {
            SuperblockCodec.encode(
                    new Superblock(1, record.indexOf(uuids[position]).orElseThrow(), record), page);
        }
    }

    /**
     * Notes the ACTIVE slots whose members get no superblocks any more: they have failed to take one, and the change
     * that says so follows. The event of such a failure would be later than the first one that the member has missed.
     */
    private void noteMissing() {
        long slots = record.slotsThatAre(SlotState.ACTIVE);
        for (int position = 0; position < uuids.length; position++) {
            OptionalInt index = (members.active() & 1L << position) == 0
                    ? OptionalInt.empty()
                    : record.indexOf(uuids[position]);
            if (index.isPresent() && index.getAsInt() < Long.SIZE) {
                slots &= ~(1L << index.getAsInt());
            }
        }
        missing |= slots;
    }

    private VolumeRecord changed(UnaryOperator<VolumeRecord> change) {
        VolumeRecord changed = change.apply(record);
        long failed = missing & changed.slotsThatAre(SlotState.FAILED);
        missing &= changed.slotsThatAre(SlotState.ACTIVE);
        return changed.withUnknownFailures(failed);
    }

    private long targets() {
        long targets = 0;
        for (long left = members.active(); left != 0; left &= left - 1) {
            OptionalInt index = record.indexOf(uuids[Long.numberOfTrailingZeros(left)]);
            SlotState state = index.isEmpty()
                    ? SlotState.FAILED
                    : record.members().get(index.getAsInt()).state();
            if (state != SlotState.FAILED && !(isStarting && state == SlotState.SPARE)) {
                targets |= Long.lowestOneBit(left);
            }
        }
        return targets;
    }

    /** Returns the index of the table entry of the member in a position; empty if it has none. */
    public synchronized OptionalInt indexAt(int position) {
        return record.indexOf(uuids[position]);
    }

    /** Returns the UUID of the member in a position. */
    public synchronized UUID at(int position) {
        return uuids[position];
    }

    /** Whether a member gets the superblocks. */
    public synchronized boolean has(UUID member) {
        int position = position(member);
        return position >= 0 && (members.active() & 1L << position) != 0;
    }

    /** Examines a device that is to be {@link #add}ed. Blocks. */
    public PageWriter.Known know(BlockDevice device) {
        return writer.know(members.retrying(device));
    }

    /** Adds a member: it gets the superblocks as soon as the table has it. */
    public void add(UUID member, PageWriter.Known known) {
        synchronized (this) {
            int position = position(member);
            for (int i = 0; position < 0 && i < uuids.length; i++) {
                position = (members.active() & 1L << i) == 0 ? i : -1;
            }
            if (position < 0) { // the table has no more entries, and members that left it are dropped
                throw new IllegalStateException("no position is free");
            }
            uuids[position] = member;
            known.install(position);
            members.add(position, known.device());
        }
    }

    /** A member gets no superblocks any more. */
    public void drop(UUID member) {
        int position;
        synchronized (this) {
            position = position(member);
        }
        if (position >= 0) {
            members.drop(position);
        }
    }

    private int position(UUID member) {
        return member.equals(MemberRecord.NIL_UUID) ? -1 : Arrays.asList(uuids).indexOf(member);
    }

    /** Returns the record of the volume, the latest change included. */
    public synchronized VolumeRecord record() {
        return record;
    }

    /** Changes the record and makes that stable. */
    public void change(UnaryOperator<VolumeRecord> change, Completion completion) {
        synchronized (this) {
            record = changed(change);
            writer.join(new Waiter() {
                @Override
                public void stable(@Nullable StorageException failure) {
                    completion.completed(failure);
                }
            });
        }
        writer.advance();
    }

    /** Notes that the volume has failed the member of an entry; drops it where a change waits since it lost writes. */
    public void dropLost(int index) {
        long positions = 0;
        synchronized (this) {
            for (int position = 0; position < uuids.length; position++) {
                positions |= record.indexOf(uuids[position]).equals(OptionalInt.of(index))
                        ? 1L << position
                        : 0;
            }
        }
        members.dropLost(positions);
    }

    /**
     * The volume is in use from now on, and not clean. Counts three events, one after the other: a member that had a
     * change which was never finished, and is away now, shall not be taken for one that is up to date; nor shall two
     * parts be taken for one that are started without each other, of which one had missed a change before. Blocks.
     *
     * @throws StorageException where a member fails, which is to be left out then
     */
    public void start(UnaryOperator<VolumeRecord> change) throws StorageException {
        synchronized (this) {
            record = change.apply(record).withClean(false);
            isStarting = true;
            try {
                for (int i = 0; i < EVENTS_OF_START; i++) {
                    writer.writeNow();
                }
            } finally {
                isStarting = false;
            }
        }
    }

    /** The volume is not in use any more; all that was written is stable, and all members tell the same. */
    public void stop(Completion completion) {
        change(record -> record.withClean(true), completion);
    }
}
