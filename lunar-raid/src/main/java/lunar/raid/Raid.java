package lunar.raid;

import java.util.List;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.Identity;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.layout.Shape;

/** Creates volumes from their members. */
public final class Raid {
    private Raid() {}

    /**
     * Creates a volume over members that hold nothing but its data, from their first block on. Levels with parity
     * assume that their content is consistent: new members must hold zeroes, or need a {@link RaidVolume#resync}.
     *
     * @throws IllegalArgumentException when a member does not fit the shape; the message is one line for the operator
     */
    public static RaidVolume volume(Shape shape, List<? extends BlockDevice> members) {
        var uuids = new StringBuilder();
        members.forEach(member -> uuids.append(member.identity().uuid()));
        UUID uuid = Identity.uuidOf(uuids.toString());
        return volume(shape, members.stream().map(member -> RaidMember.of(member, 0)).toList(),
                RaidOptions.of(Identity.of("iRAID", uuid)));
    }

    /**
     * Creates a volume over members of any state.
     *
     * @throws IllegalArgumentException when a member does not fit the shape
     */
    public static RaidVolume volume(Shape shape, List<RaidMember> members, RaidOptions options) {
        return VolumeEngine.of(shape, members, options);
    }
}
