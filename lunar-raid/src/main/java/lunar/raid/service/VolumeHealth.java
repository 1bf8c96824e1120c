package lunar.raid.service;

import lunar.raid.RaidVolume;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;

/** The health of a volume, in a word. */
public enum VolumeHealth {
    /** The redundancy is complete. */
    CLEAN("clean"),
    /** All members are there, and redundancy is being restored. */
    RESYNCING("resyncing"),
    /** All members are there, and blocks are to be moved into the layout of all of them, or being moved. */
    RESHAPING("reshaping"),
    /** A slot has no member, and nothing is being rebuilt. */
    DEGRADED("degraded"),
    /** A member is being rebuilt. */
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
        return state.resyncedStripes().isPresent() ? RESYNCING : CLEAN;
    }

    @Override
    public String toString() { return title; }
}
