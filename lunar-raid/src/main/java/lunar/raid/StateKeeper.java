package lunar.raid;

/**
 * Makes the state of a volume stable: in the superblocks of its members. While a slot's failure is not stable no write
 * is acknowledged, since after a crash the slot could count as one that has it.
 */
@FunctionalInterface
public interface StateKeeper {
    /** Keeps nothing: the state is lost with the volume. */
    StateKeeper NONE = (_, done) -> done.completed(null);

    /**
     * Writes the state to every member that is not FAILED in it, stable. Not called again before it is done. Must not
     * block. A member that cannot take it is to be failed ({@link RaidVolume#fail}) and counts as done.
     */
    void keep(VolumeState state, Completion done);

    /**
     * Calls back when the member of a REBUILDING slot has all that the others have besides data: only then may it be
     * ACTIVE in a state that is kept, else a further loss could be kept which a crash would not survive. By any thread,
     * usually before this method returns, since it gets that while it is rebuilt. Never if it fails before.
     */
    default void whenJoined(int slot, Runnable joined) { joined.run(); }
}
