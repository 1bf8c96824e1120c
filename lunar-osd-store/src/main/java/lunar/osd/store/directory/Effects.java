package lunar.osd.store.directory;

import java.util.ArrayList;
import java.util.List;

/** Effects of a change on what is in memory: undone if the change is, completed once it has committed. */
final class Effects {
    private final List<Runnable> undo = new ArrayList<>();
    private final List<Runnable> complete = new ArrayList<>();
    private final Dropped dropped = new Dropped();
    private boolean uncertain;

    /** Adds an action that reverts one. */
    void onUndo(Runnable action) { undo.add(action); }

    /** Adds an action that follows the commit, while the files of dropped data are still frozen. */
    void onCommit(Runnable action) {
        complete.add(action);
    }

    /** Data that the change takes from objects. */
    Dropped dropped() { return dropped; }

    /** Records that the commit has failed so that the next start may find it completed nevertheless. */
    void uncertain() {
        uncertain = true;
    }

    /** Whether the next start of the store may find the change, although it is undone. */
    boolean isUncertain() {
        return uncertain;
    }

    /** Reverts everything, the last first. */
    void undo() {
        undo.reversed().forEach(Runnable::run);
    }

    void complete() { complete.forEach(Runnable::run); }
}
