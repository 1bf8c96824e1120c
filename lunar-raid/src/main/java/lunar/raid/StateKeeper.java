package lunar.raid;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the state of a volume stable: in the superblocks of its members. While a slot's failure is not stable no write
 * is acknowledged, since after a crash the slot could count as one that has it.
 */
@FunctionalInterface
public interface StateKeeper {
    /** Keeps nothing: the state is lost with the volume. */
    StateKeeper NONE = (_, done) -> done.kept(null);

    /** Called when the state is stable: once, by any thread, possibly before {@link #keep} returns. */
    @FunctionalInterface
    interface Done {
        /** @param failure why it could not be kept; the volume takes no writes from then on */
        void kept(@Nullable StorageException failure);
    }

    /**
     * Writes the state to every member that is not FAILED in it, stable. Not called again before it is done. Must not
     * block. A member that cannot take it is to be failed ({@link RaidVolume#fail}) and counts as done.
     */
    void keep(VolumeState state, Done done);

    /**
     * Calls back when the member of a REBUILDING slot has all that the others have besides data: only then may it be
     * ACTIVE in a state that is kept, else a further loss could be kept which a crash would not survive. By any thread,
     * usually before this method returns, since it gets that while it is rebuilt. Never if it fails before.
     */
    default void whenJoined(int slot, Runnable joined) { joined.run(); }
}
