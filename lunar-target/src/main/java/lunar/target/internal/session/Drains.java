package lunar.target.internal.session;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The targets that are being drained: logins of normal sessions are refused there. Thread-safe. A login looks here
 * under the lock of {@link Sessions} before it adds its session, so that a drain, which lists the sessions under this
 * lock afterwards, misses none.
 */
public final class Drains {
    /** Why a login is refused. */
    static final String REFUSAL = "the target is being drained and accepts no logins";

    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private volatile boolean all;

    Drains() {}

    /** Begins to drain all targets, also those that are added later. */
    public void addAll() {
        all = true;
    }

    /** Begins to drain the target of a name. */
    public void add(String targetName) {
        names.add(targetName);
    }

    /** Ends all drains. */
    public void clear() {
        all = false;
        names.clear();
    }

    /** Ends the drain of a target; one of all targets continues. */
    public void remove(String targetName) {
        names.remove(targetName);
    }

    /** Forgets the targets that do not exist any longer. */
    void retain(Collection<String> targetNames) {
        names.retainAll(targetNames);
    }

    /** Whether all targets are drained. */
    public boolean isAll() { return all; }

    /** Returns the names of the targets that are drained on their own. */
    public Set<String> names() {
        return Set.copyOf(names);
    }

    /** Whether logins to a target are refused. */
    boolean covers(TargetNode target) {
        return all || names.contains(target.spec().name());
    }
}
