package lunar.osd.store;

import lunar.osd.wire.ObjectId;

/** An object does not exist, or is no user object; it may have been removed a moment ago. */
public final class NoSuchObjectException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient ObjectId object;

    /** @param object the object that does not exist */
    public NoSuchObjectException(ObjectId object) {
        super("no user object " + object);
        this.object = object;
    }

    /** Returns the object. */
    public ObjectId object() { return object; }
}
