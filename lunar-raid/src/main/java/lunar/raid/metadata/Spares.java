package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.Completion;
import lunar.raid.SlotState;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.Superblocks;
import org.jspecify.annotations.Nullable;

/** The spares of a volume that are there, and which of them fits a slot. */
final class Spares {
    /** Guarded by this. */
    private final Map<UUID, BlockDevice> devices = new HashMap<>();

    synchronized void put(UUID uuid, BlockDevice device) { devices.put(uuid, device); }

    /** Adds a spare: {@link VolumeMetadata#addSpare}. Blocks. */
    void add(Superblocks superblocks, String uri, BlockDevice device, UUID uuid,
            Completion completion) throws StorageException {
        VolumeRecord record = superblocks.record();
        VolumeDescription what = record.description();
        long blocks = dataBlocks(what, record.members().subList(0, what.slots()), uri, device);
        if (record.members().size() >= Superblock.MAX_MEMBERS) {
            throw new InvalidRequestException("volume " + what.title() + " has "
                    + Superblock.MAX_MEMBERS + " members and spares: it takes no more");
        }
        Creation.clear(device, what.layout());
        superblocks.add(uuid, superblocks.know(device));
        put(uuid, device);
        superblocks.change(now -> now.indexOf(uuid).isEmpty() ? now.withSpare(uuid, blocks) : now,
                completion);
    }

    /** Takes back a spare that was away: {@link VolumeMetadata#returnSpare}. */
    void takeBack(Superblocks superblocks, UUID uuid, BlockDevice device) {
        if (superblocks.has(uuid)) {
            superblocks.drop(uuid);
        }
        superblocks.add(uuid, superblocks.know(device));
        put(uuid, device);
        superblocks.change(now -> now, _ -> {});
    }

    synchronized @Nullable BlockDevice remove(UUID uuid) { return devices.remove(uuid); }

    synchronized @Nullable BlockDevice device(UUID uuid) { return devices.get(uuid); }

    /** The smallest spare that is there and has room for what was in a slot; null where none has. */
    @Nullable
    UUID choose(VolumeRecord record, int slot, Superblocks superblocks) {
        UUID uuid = fitting(record, slot);
        while (uuid != null && !superblocks.has(uuid)) { // it did not take one
            BlockDevice _ = remove(uuid);
            uuid = fitting(record, slot);
        }
        return uuid;
    }

    private synchronized @Nullable UUID fitting(VolumeRecord record, int slot) {
        MemberRecord best = null;
        for (MemberRecord spare : record.spares()) {
            if (devices.containsKey(spare.uuid())
                    && spare.dataBlocks() >= record.members().get(slot).dataBlocks()
                    && (best == null || spare.dataBlocks() < best.dataBlocks())) {
                best = spare;
            }
        }
        return best == null ? null : best.uuid();
    }

    /**
     * Blocks of data that a device has as a spare of a volume.
     *
     * @throws InvalidRequestException where it cannot be one; one line that says what to do
     */
    static long dataBlocks(VolumeDescription what, List<MemberRecord> slots, String uri,
            BlockDevice device) throws InvalidRequestException {
        if (!what.level().isRedundant()) {
            throw new InvalidRequestException("volume " + what.title() + " is " + what.level()
                    + ", which loses its data with any member: a spare is of no use to it");
        }
        if (device.blockSize() != what.blockSize()) {
            throw new InvalidRequestException(uri + " has blocks of " + device.blockSize()
                    + " bytes, and volume " + what.title() + " of " + what.blockSize()
                    + ": name another device");
        }
        long blocks = what.layout().dataBlocks(device.sizeBytes(), what.blockSize());
        long needed = slots.stream().mapToLong(MemberRecord::dataBlocks).max().orElse(1);
        if (blocks < needed) {
            throw new InvalidRequestException(uri + " is too small for a spare of volume "
                    + what.title() + ": it has room for " + blocks
                    + " blocks of data, and a member "
                    + "has " + needed + "; name a larger device");
        }
        return blocks;
    }

    /** The table with a slot's new member, which is a spare no more. */
    static VolumeRecord taken(VolumeRecord record, int slot, MemberRecord member) {
        var table = new ArrayList<MemberRecord>();
        for (int index = 0; index < record.members().size(); index++) {
            MemberRecord one = record.members().get(index);
            if (index == slot) {
                table.add(member);
            } else if (one.state() != SlotState.SPARE || !one.uuid().equals(member.uuid())) {
                table.add(one);
            }
        }
        return record.withMembers(table);
    }
}
