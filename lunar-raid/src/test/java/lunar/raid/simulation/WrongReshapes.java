package lunar.raid.simulation;

import lunar.raid.Completion;
import lunar.raid.ReshapeState;
import lunar.raid.StripeSet;

/** Reshapes with one mistake each. */
final class WrongReshapes {
    private WrongReshapes() {}

    /** A right keeper, of which something is changed. */
    private static class Changed implements ReshapeState.Keeper {
        final ReshapeState.Keeper right;

        Changed(ReshapeState.Keeper right) { this.right = right; }

        @Override
        public void staged(long rows, int staged, Completion done) {
            right.staged(rows, staged, done);
        }

        @Override
        public void moved(long from, long end, Completion done) { right.moved(from, end, done); }

        @Override
        public void finished(Completion done) { right.finished(done); }
    }

    /** Rows are written over what is in them, and no crash would find what was staged. */
    static Rules notesNothingStaged() {
        return Rules.reshape(right -> new Changed(right) {
            @Override
            public void staged(long rows, int staged, Completion done) { done.completed(null); }
        });
    }

    /** Blocks are used where they are in the new layout before a crash would find them there. */
    static Rules notesTooLate() {
        return Rules.reshape(right -> new Changed(right) {
            @Override
            public void moved(long from, long end, Completion done) {
                done.completed(null);
                right.moved(from, end, _ -> {});
            }
        });
    }

    /** After a crash nothing is compared. */
    static Rules comparesNothing() {
        return Rules.stale(_ -> StripeSet.EMPTY);
    }

    /** While blocks are being moved members may be lost that the new layout can do without, and the old one not. */
    static Rules judgesLossesInTheNewLayout() {
        return Rules.volume(volume -> volume.engine().membership
                .promise(volume.engine().layout::survives));
    }

    /** The volume is said to be in its new layout one window too early. */
    static Rules notesTooMuch() {
        return Rules.reshape(right -> new Changed(right) {
            @Override
            public void staged(long rows, int staged, Completion done) {
                right.moved(rows, rows + staged, done);
            }
        });
    }
}
