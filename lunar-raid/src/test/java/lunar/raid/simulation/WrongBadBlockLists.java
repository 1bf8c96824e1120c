package lunar.raid.simulation;

import lunar.raid.BadBlockList;
import lunar.raid.Completion;

/** Lists of blocks without content that are kept or asked wrongly. */
final class WrongBadBlockLists {
    private WrongBadBlockLists() {}

    /** A read does not ask: it returns the zeroes that parity was made for. */
    static Rules asksNothing() {
        return Rules.lost(right -> new Wrong(right) {
            @Override
            public boolean overlaps(int slot, long memberBlock, long blocks) { return false; }
        });
    }

    /** Of each unit, only the first block is asked about. */
    static Rules asksAboutTheFirstBlock() {
        return Rules.lost(right -> new Wrong(right) {
            @Override
            public boolean overlaps(int slot, long memberBlock, long blocks) {
                return right.overlaps(slot, memberBlock, 1);
            }
        });
    }

    /** Whatever chunk is read, the first one of the member is asked about. */
    static Rules asksAboutTheFirstChunk() {
        return Rules.lost(right -> new Wrong(right) {
            @Override
            public boolean overlaps(int slot, long memberBlock, long blocks) {
                return right.overlaps(slot, memberBlock % SimWorld.CHUNK_BLOCKS, blocks);
            }
        });
    }

    /** Blocks that were written stay in the list. */
    static Rules forgetsNothing() {
        return Rules.lost(right -> new Wrong(right) {
            @Override
            public void written(int slot, long memberBlock, int blocks, Runnable done) {
                done.run();
            }
        });
    }

    /** A loss passes for stable, and is not noted. */
    static Rules notesNothing() {
        return Rules.lost(right -> new Wrong(right) {
            @Override
            public void lose(int slot, long memberBlock, int blocks, Completion completion) {
                completion.completed(null);
            }
        });
    }

    private abstract static class Wrong implements BadBlockList {
        private final BadBlockList right;

        Wrong(BadBlockList right) { this.right = right; }

        @Override
        public void lose(int slot, long memberBlock, int blocks, Completion completion) {
            right.lose(slot, memberBlock, blocks, completion);
        }

        @Override
        public boolean overlaps(int slot, long memberBlock, long blocks) {
            return right.overlaps(slot, memberBlock, blocks);
        }

        @Override
        public void written(int slot, long memberBlock, int blocks, Runnable done) {
            right.written(slot, memberBlock, blocks, done);
        }
    }
}
