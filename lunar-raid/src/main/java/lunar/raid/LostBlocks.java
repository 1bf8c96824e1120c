package lunar.raid;

import lunar.block.MediumException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of data that have lost their content, as a crash that meets the loss of a member may leave them, or a rebuild
 * that meets blocks that cannot be read: whatever the members have there, or parity would make of it, a read fails
 * until the blocks are written again.
 */
public interface LostBlocks {
    /** Nothing is lost. */
    LostBlocks NONE = new LostBlocks() {
        @Override
        public boolean overlaps(int slot, long memberBlock, long blocks) { return false; }

        @Override
        public void written(int slot, long memberBlock, int blocks, Runnable done) { done.run(); }
    };

    /** Told when a loss is stable. Called once, by any thread, also before {@link #lose} returns. */
    @FunctionalInterface
    interface Kept {
        /** @param failure why it could not be noted; null where it is stable */
        void kept(@Nullable StorageException failure);
    }

    /** These blocks of a slot have lost their content. Fails where nobody can note it. */
    default void lose(int slot, long memberBlock, int blocks, Kept kept) {
        kept.kept(new MediumException("blocks of slot " + slot + " are lost, and nobody keeps a"
                + " list of them"));
    }

    /** Whether one of these blocks of a slot's data area is lost. Asked for each read; must not block. */
    boolean overlaps(int slot, long memberBlock, long blocks);

    /**
     * These blocks, of which some are lost, have been written. The write is acknowledged when this has been made
     * stable: after a crash they must not pass for lost again.
     *
     * @param done called once, by any thread, also before the call returns
     */
    void written(int slot, long memberBlock, int blocks, Runnable done);
}
