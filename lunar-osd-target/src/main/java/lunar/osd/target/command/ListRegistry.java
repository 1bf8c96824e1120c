package lunar.osd.target.command;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.command.ListCommand;

/**
 * Lists that initiators have begun, to tell whether a list has changed since. A list that the device no longer knows
 * counts as changed. Thread-safe.
 */
final class ListRegistry {
    private static final long MAX_IDENTIFIER = 0xffff_ffffL;

    /** A list: whose it is, and the number of changes of objects before it. */
    private record Begun(ObjectId object, long changes) {}

    /** Which objects are listed. */
    private record Listed(ObjectId object, ObjectType type) {}

    /** The end of a part of a list: its last entry, the next one, and how many there were from that on. */
    private record Part(long last, long next, long left) {
        boolean isContinuedBy(long from) {
            return Long.compareUnsigned(from, last) > 0 && Long.compareUnsigned(from, next) <= 0;
        }
    }

    private final Map<Long, Begun> lists = new LinkedHashMap<>(); // guarded by this
    /** The latest part of a list of each object, by the objects. Guarded by this. */
    private final Map<Listed, Part> parts = new LinkedHashMap<>();
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

    /**
     * Remembers how many objects were left after a part of a list, so that the command that continues it, with or
     * without the identifier of the list, need not count them.
     *
     * @param last last identifier of the part
     * @param next the one that follows
     * @param left objects from that on
     */
    synchronized void left(ObjectId object, ObjectType type, long last, long next, long left) {
        var listed = new Listed(object, type);
        parts.remove(listed);
        while (parts.size() >= OsdLimits.MAX_LISTS) {
            parts.remove(parts.keySet().iterator().next());
        }
        parts.put(listed, new Part(last, next, left));
    }

    /** Returns how many objects there were from an identifier on, if a part of a list has ended before it. */
    synchronized OptionalLong left(ObjectId object, ObjectType type, long from) {
        Part part = parts.get(new Listed(object, type));
        return part != null && part.isContinuedBy(from)
                ? OptionalLong.of(part.left())
                : OptionalLong.empty();
    }

    /** Forgets a list that has come to its end. */
    synchronized void end(long identifier) {
        lists.remove(identifier);
    }
}
