package lunar.raid;

import java.util.List;
import java.util.OptionalLong;

/**
 * A snapshot of the state of a volume.
 *
 * @param slots state of each slot; none is a spare
 * @param rebuiltStripes for each slot that is REBUILDING, the stripe up to which it is rebuilt; else 0
 * @param resyncedStripes the stripe up to which redundancy is true while a resync is due or running; empty if none is
 * @param serving false if more is lost than the level survives: no write is taken any more
 */
public record VolumeState(List<SlotState> slots, List<Long> rebuiltStripes,
        OptionalLong resyncedStripes,
        boolean serving) {
    public VolumeState {
        slots = List.copyOf(slots);
        rebuiltStripes = List.copyOf(rebuiltStripes);
    }

    /** Whether the redundancy is complete. */
    public boolean isWhole() {
        return serving && resyncedStripes.isEmpty()
                && slots.stream().allMatch(slot -> slot == SlotState.ACTIVE);
    }

    @Override
    public String toString() {
        return (serving ? isWhole() ? "whole" : "degraded" : "failed") + " " + slots;
    }
}
