package lunar.raid;

import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Makes the state of a volume stable: in the superblocks of its members. While a slot's failure is not stable no write
 * is acknowledged, since after a crash the slot could pass for one that has it.
 */
@FunctionalInterface
public interface StateKeeper {
    /** Keeps nothing: the state is gone with the volume. */
    StateKeeper NONE = (_, done) -> done.kept(null);

    /** Told when the state is stable. Called once, by any thread, also before {@link #keep} returns. */
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
     * Calls back when the member of a slot that is REBUILDING has all that others have beside data: not before is it to
     * be ACTIVE in a state that is kept, else one more loss could be kept which a crash would not survive. By any
     * thread, mostly before this returns, since it gets that while it is rebuilt. Never where it fails before.
     */
    default void whenJoined(int slot, Runnable joined) { joined.run(); }
}
