package lunar.raid;

import lunar.block.MediumException;

/**
 * The bad-block list: blocks of data that have lost their content, after a crash together with the loss of a member, or
 * a rebuild that met unreadable blocks. A read of them fails until they are written again, whatever the members hold
 * there, or parity would yield.
 */
public interface BadBlockList {
    /** Nothing is lost. */
    BadBlockList NONE = new BadBlockList() {
        @Override
        public boolean overlaps(int slot, long memberBlock, long blocks) { return false; }

        @Override
        public void written(int slot, long memberBlock, int blocks, Runnable done) { done.run(); }
    };

    /**
     * Notes that these blocks of a slot have lost their content. Fails by default, as there is no list to note it in.
     */
    default void lose(int slot, long memberBlock, int blocks, Completion completion) {
        completion.completed(
                new MediumException("blocks of slot " + slot + " are lost, and there is no"
                        + " bad-block list"));
    }

    /** Whether one of these blocks of a slot's data area is lost. Asked for each read; must not block. */
    boolean overlaps(int slot, long memberBlock, long blocks);

    /**
     * Notes that these blocks, some of which are lost, have been written. The write is acknowledged when this has been
     * made stable: after a crash they must not count as lost again.
     *
     * @param done called once, by any thread, possibly before this method returns
     */
    void written(int slot, long memberBlock, int blocks, Runnable done);
}
