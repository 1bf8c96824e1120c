package lunar.raid.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import lunar.block.StorageException;
import lunar.raid.Completion;
import lunar.raid.engine.member.Trampoline;
import org.jspecify.annotations.Nullable;

/**
 * Admits many users of a range of blocks, or one alone; overlapping ranges are admitted first come, first served. For
 * any thread.
 */
final class RangeGate {
    /** A use of a range, or a wait for it. */
    static final class Pass {
        private final long from;
        private final long end;
        private final boolean isAlone;
        private final Completion granted;

        /**
         * @param isAlone whether the range must be used by nothing else meanwhile
         * @param granted called once, when the pass is admitted, or with why it never will be
         */
        Pass(long from, long end, boolean isAlone, Completion granted) {
            this.from = from;
            this.end = end;
            this.isAlone = isAlone;
            this.granted = granted;
        }

        private boolean conflicts(Pass other) {
            return (isAlone || other.isAlone) && from < other.end && other.from < end;
        }
    }

    /** Guarded by this, as are all fields below. */
    private final Set<Pass> inside = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<Pass> waiting = new ArrayList<>();
    /** Number of passes, inside or waiting, that want to be alone. */
    private int alone;
    private @Nullable StorageException shut;

    /** Asks for admission; {@link Pass#granted} is called, at once or later. */
    void enter(Pass pass) {
        StorageException refusal = null;
        synchronized (this) {
            if ((alone == 0 && !pass.isAlone) || isFree(pass, waiting.size())) {
                inside.add(pass);
            } else if (shut == null) {
                waiting.add(pass);
                alone += pass.isAlone ? 1 : 0;
                return;
            } else {
                refusal = shut;
            }
            alone += pass.isAlone && refusal == null ? 1 : 0;
        }
        StorageException why = refusal;
        Trampoline.run(() -> pass.granted.completed(why));
    }

    /** Whether a pass conflicts neither with those inside nor with the first {@code before} of those that wait. */
    private boolean isFree(Pass pass, int before) {
        for (Pass other : inside) {
            if (pass.conflicts(other)) {
                return false;
            }
        }
        for (int i = 0; i < before; i++) {
            if (pass.conflicts(waiting.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Ends the use of a range, and admits those that waited for it. */
    void leave(Pass pass) {
        var granted = new ArrayList<Pass>();
        synchronized (this) {
            inside.remove(pass);
            alone -= pass.isAlone ? 1 : 0;
            for (int i = 0; i < waiting.size();) {
                Pass next = waiting.get(i);
                if (isFree(next, i)) {
                    waiting.remove(i);
                    inside.add(next);
                    granted.add(next);
                } else {
                    i++;
                }
            }
        }
        granted.forEach(next -> Trampoline.run(() -> next.granted.completed(null)));
    }

    /** Refuses all passes that wait, and from now on those that cannot be admitted at once. */
    void shut(StorageException cause) {
        var refused = new ArrayList<Pass>();
        synchronized (this) {
            if (shut == null) {
                shut = cause;
            }
            for (Iterator<Pass> all = waiting.iterator(); all.hasNext();) {
                Pass pass = all.next();
                alone -= pass.isAlone ? 1 : 0;
                refused.add(pass);
                all.remove();
            }
        }
        refused.forEach(pass -> Trampoline.run(() -> pass.granted.completed(cause)));
    }

    /** Returns why the gate is shut; null if it is not. */
    synchronized @Nullable StorageException whyShut() {
        return shut;
    }
}
