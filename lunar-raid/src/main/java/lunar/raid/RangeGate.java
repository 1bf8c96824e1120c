package lunar.raid;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Lets ranges of blocks be used by many, or by one alone; whoever comes first is first, as far as ranges overlap. Any
 * thread.
 */
final class RangeGate {
    /** Somebody who uses a range, or waits for it. */
    static final class Pass {
        private final long from;
        private final long end;
        private final boolean isAlone;
        private final Reshaping.Step granted;

        /**
         * @param isAlone whether nobody else may be in the range meanwhile
         * @param granted told once, that it may, or why it never will
         */
        Pass(long from, long end, boolean isAlone, Reshaping.Step granted) {
            this.from = from;
            this.end = end;
            this.isAlone = isAlone;
            this.granted = granted;
        }

        private boolean conflicts(Pass other) {
            return (isAlone || other.isAlone) && from < other.end && other.from < end;
        }
    }

    /** Guarded by this, as all below. */
    private final Set<Pass> inside = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<Pass> waiting = new ArrayList<>();
    /** Of all these, who want to be alone. */
    private int alone;
    private @Nullable StorageException shut;

    /** Wants in; {@link Pass#granted} is told, at once or later. */
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
        Trampoline.run(() -> pass.granted.next(why));
    }

    /** Whether nobody is in its way, be it one of those who came first and wait. */
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

    /** Is out again. */
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
        granted.forEach(next -> Trampoline.run(() -> next.granted.next(null)));
    }

    /** From now on nobody waits: who cannot go in at once is refused. */
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
        refused.forEach(pass -> Trampoline.run(() -> pass.granted.next(cause)));
    }

    /** Why nobody waits any more; null where they may. */
    synchronized @Nullable StorageException whyShut() {
        return shut;
    }
}
