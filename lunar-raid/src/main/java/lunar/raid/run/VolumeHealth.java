package lunar.raid.run;

import lunar.raid.RaidVolume;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;

/** How a volume is, in a word. */
public enum VolumeHealth {
    /** All that can be lost is still there. */
    CLEAN("clean"),
    /** All members are there, and redundancy is being made true. */
    RESYNCING("resyncing"),
    /** All members are there, and blocks are to be moved into the layout of all of them, or being moved. */
    RESHAPING("reshaping"),
    /** A slot has no member, and nothing is being rebuilt. */
    DEGRADED("degraded"),
    /** A member gets what belongs in its slot. */
    REBUILDING("rebuilding"),
    /** More is lost than the level survives. */
    FAILED("failed");

    private final String title;

    VolumeHealth(String title) { this.title = title; }

    static VolumeHealth of(RaidVolume volume) {
        VolumeHealth health = of(volume.state());
        return health == CLEAN && volume.isReshaping() ? RESHAPING : health;
    }

    private static VolumeHealth of(VolumeState state) {
        if (!state.serving()) {
            return FAILED;
        }
        if (state.slots().contains(SlotState.REBUILDING)) {
            return REBUILDING;
        }
        if (state.slots().contains(SlotState.FAILED)) {
            return DEGRADED;
        }
        return state.resyncedStripes() >= 0 ? RESYNCING : CLEAN;
    }

    @Override
    public String toString() { return title; }
}
