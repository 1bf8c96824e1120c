package lunar.raid;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.Identity;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Planner;
import lunar.raid.layout.Shape;
import org.jspecify.annotations.Nullable;

/** Puts volumes together. */
public final class Raid {
    private Raid() {}

    /**
     * Creates a volume over members that hold nothing but its data, from their first block on. Levels with parity
     * assume that their content is consistent: new members must hold zeroes, or need a {@link RaidVolume#resync}.
     *
     * @throws IllegalArgumentException when a member does not fit the shape; the message is one line for a person
     */
    public static RaidVolume volume(Shape shape, List<? extends BlockDevice> members) {
        var uuids = new StringBuilder();
        members.forEach(member -> uuids.append(member.identity().uuid()));
        UUID uuid = Identity.uuidOf(uuids.toString());
        return volume(shape, members.stream().map(member -> RaidMember.of(member, 0)).toList(),
                RaidOptions.of(Identity.of("iRAID", uuid)));
    }

    /** A volume over members of any state. */
    public static RaidVolume volume(Shape shape, List<RaidMember> members, RaidOptions options) {
        Layout layout = Layout.of(shape);
        return volume(layout, Planner.of(layout), members, options);
    }

    /** Creates a volume that is being reshaped: it has the blocks from before, and all members of the shape. */
    public static RaidVolume volume(Shape shape, List<RaidMember> members, RaidOptions options,
            @Nullable Reshaping reshaping) {
        Layout layout = Layout.of(shape);
        requireMembers(shape, members);
        return new RaidVolume(layout, Planner.of(layout), members, options, reshaping);
    }

    /** For tests of planners. */
    static RaidVolume volume(Layout layout, Planner planner, List<RaidMember> members,
            RaidOptions options) {
        requireMembers(layout.shape(), members);
        return new RaidVolume(layout, planner, members, options, null);
    }

    static void requireMembers(Shape shape, List<RaidMember> members) {
        if (members.size() != shape.members()) {
            throw new IllegalArgumentException("the shape has " + shape.members()
                    + " members, not " + members.size());
        }
        var devices = new ArrayList<BlockDevice>();
        for (int slot = 0; slot < members.size(); slot++) {
            BlockDevice device = members.get(slot).device();
            if (device != null) {
                requireFit(shape, slot, device, members.get(slot).dataOffset());
                if (devices.contains(device)) {
                    throw new IllegalArgumentException(
                            device + " cannot be a member twice");
                }
                devices.add(device);
            }
        }
    }

    static void requireFit(Shape shape, int slot, BlockDevice device, long dataOffset) {
        if (device.blockSize() != shape.blockSize()) {
            throw new IllegalArgumentException(device + " has blocks of " + device.blockSize()
                    + " bytes, not " + shape.blockSize());
        }
        long room = device.blockCount() - dataOffset;
        if (room < shape.memberBlocks().get(slot)) {
            throw new IllegalArgumentException(device + " has room for " + room
                    + " blocks of data, not for " + shape.memberBlocks().get(slot));
        }
    }
}
