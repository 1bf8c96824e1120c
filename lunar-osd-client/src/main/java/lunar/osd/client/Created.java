package lunar.osd.client;

import java.util.OptionalLong;
import lunar.block.MediumException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.page.CurrentCommandAttribute;

/** Identifiers of objects that a command has created. */
final class Created {
    private Created() {}

    /** Refuses an identifier that no object can have: a mistake of the caller. */
    static void check(long id) {
        if (Long.compareUnsigned(id, ObjectId.FIRST) < 0) {
            throw new IllegalArgumentException("identifiers of objects start with "
                    + Long.toHexString(ObjectId.FIRST) + "h, not " + Long.toHexString(id) + 'h');
        }
    }

    static long partition(Reply<?> reply, OsdCalls calls) throws MediumException {
        return id(reply, CurrentCommandAttribute.PARTITION_ID, calls);
    }

    static long object(Reply<?> reply, OsdCalls calls) throws MediumException {
        return id(reply, CurrentCommandAttribute.OBJECT_ID, calls);
    }

    private static long id(Reply<?> reply, CurrentCommandAttribute attribute, OsdCalls calls)
            throws MediumException {
        OptionalLong id = OsdCalls.number(reply.attributes(), attribute);
        if (id.isEmpty()) {
            throw new MediumException(calls.name()
                    + ": invalid response: an object was created without telling its identifier");
        }
        return id.getAsLong();
    }
}
