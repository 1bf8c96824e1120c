package lunar.raid.meta;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.InvalidRequestException;
import lunar.raid.SlotState;
import org.jspecify.annotations.Nullable;

/** The spares of a volume that are there, and which of them fits a slot. */
final class Spares {
    /** Guarded by this. */
    private final Map<UUID, BlockDevice> devices = new HashMap<>();

    synchronized void put(UUID uuid, BlockDevice device) { devices.put(uuid, device); }

    synchronized @Nullable BlockDevice remove(UUID uuid) { return devices.remove(uuid); }

    synchronized @Nullable BlockDevice device(UUID uuid) { return devices.get(uuid); }

    /** The smallest spare that is there and has room for what was in a slot; null where none has. */
    synchronized @Nullable UUID fitting(VolumeRecord record, int slot) {
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
        for (int line = 0; line < record.members().size(); line++) {
            MemberRecord one = record.members().get(line);
            if (line == slot) {
                table.add(member);
            } else if (one.state() != SlotState.SPARE || !one.uuid().equals(member.uuid())) {
                table.add(one);
            }
        }
        return record.withMembers(table);
    }
}
