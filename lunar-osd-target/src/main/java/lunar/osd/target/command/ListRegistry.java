package lunar.osd.target.command;

import java.util.LinkedHashMap;
import java.util.Map;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.command.ListCommand;

/**
 * Lists that initiators have begun, to tell whether a list has changed since. A list that the device no longer knows
 * counts as changed. Thread-safe.
 */
final class ListRegistry {
    private static final long MAX_IDENTIFIER = 0xffff_ffffL;

    /** A list: whose it is, and the number of changes of objects before it. */
    private record Begun(ObjectId object, long changes) {}

    private final Map<Long, Begun> lists = new LinkedHashMap<>(); // guarded by this
    private long changes; // guarded by this
    private long nextIdentifier = 1; // guarded by this

    /** Called after objects were created or removed, or have become or ceased to be members of a collection. */
    synchronized void changed() {
        changes++;
    }

    /** Returns the identifier of a new list of an object. */
    synchronized long begin(ObjectId object) {
        while (lists.size() >= OsdLimits.MAX_LISTS) {
            lists.remove(lists.keySet().iterator().next());
        }
        long identifier = nextIdentifier;
        nextIdentifier = nextIdentifier == MAX_IDENTIFIER ? 1 : nextIdentifier + 1;
        lists.put(identifier, new Begun(object, changes));
        return identifier;
    }

    /**
     * Returns whether a list has changed since it was begun; false for a command that begins one.
     *
     * @throws RefusedException if the list is that of another object
     */
    synchronized boolean hasChanged(ListCommand command) throws RefusedException {
        if (command.listIdentifier() == 0) {
            return false;
        }
        Begun begun = lists.get(command.listIdentifier());
        if (begun != null && !begun.object().equals(command.object())) {
            throw RefusedException.field(CdbFieldAt.listIdentifier(command));
        }
        return begun == null || begun.changes() != changes;
    }

    /** Forgets a list that has come to its end. */
    synchronized void end(long identifier) {
        lists.remove(identifier);
    }
}
