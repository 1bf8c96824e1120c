package lunar.raid;

import lunar.block.BlockDevice;
import org.jspecify.annotations.Nullable;

/**
 * The content of a slot when a volume is put together.
 *
 * @param device the member; null where there is none
 * @param dataOffset the device's block at which the data area begins
 * @param state ACTIVE, FAILED or REBUILDING; FAILED where there is no device
 * @param rebuiltStripes for REBUILDING, the stripe up to which the member is rebuilt
 */
public record RaidMember(@Nullable BlockDevice device, long dataOffset, SlotState state,
        long rebuiltStripes) {
    public RaidMember {
        if (state == SlotState.SPARE || (device == null && state != SlotState.FAILED)
                || dataOffset < 0 || rebuiltStripes < 0) {
            throw new IllegalArgumentException("a slot cannot be " + state + " so");
        }
    }

    /** A member that has all its data, from the device's block on. */
    public static RaidMember of(BlockDevice device, long dataOffset) {
        return new RaidMember(device, dataOffset, SlotState.ACTIVE, 0);
    }

    /** A slot without a member. */
    public static RaidMember missing() {
        return new RaidMember(null, 0, SlotState.FAILED, 0);
    }
}
