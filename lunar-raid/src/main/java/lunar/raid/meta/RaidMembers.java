package lunar.raid.meta;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.raid.RaidMember;
import lunar.raid.SlotState;

/** What the engine puts in its slots. */
final class RaidMembers {
    private RaidMembers() {}

    static List<RaidMember> of(VolumeRecord record, MemberSet members) {
        VolumeDescription what = record.description();
        long offset = what.layout().dataBytes() / what.blockSize();
        var slots = new ArrayList<RaidMember>();
        for (int slot = 0; slot < what.slots(); slot++) {
            BlockDevice device = members.given(slot);
            MemberRecord line = record.members().get(slot);
            slots.add(device == null || line.state() == SlotState.FAILED
                    ? RaidMember.missing()
                    : new RaidMember(device, offset, line.state(), line.rebuiltStripes()));
        }
        return slots;
    }
}
