package lunar.raid;

import java.util.List;

/**
 * What a volume is at a moment.
 *
 * @param slots state of each slot; none is a spare
 * @param rebuiltStripes of each slot that is REBUILDING, the stripe up to which all is there; else 0
 * @param resyncedStripes the stripe up to which redundancy is true where a resync is under way, -1 where none is
 * @param serving false where more is lost than the level survives: no write is taken any more
 */
public record VolumeState(List<SlotState> slots, List<Long> rebuiltStripes, long resyncedStripes,
        boolean serving) {
    public VolumeState {
        slots = List.copyOf(slots);
        rebuiltStripes = List.copyOf(rebuiltStripes);
    }

    /** Whether all that can be lost is still there. */
    public boolean isWhole() {
        return serving && resyncedStripes < 0
                && slots.stream().allMatch(slot -> slot == SlotState.ACTIVE);
    }

    @Override
    public String toString() {
        return (serving ? isWhole() ? "whole" : "degraded" : "failed") + " " + slots;
    }
}
