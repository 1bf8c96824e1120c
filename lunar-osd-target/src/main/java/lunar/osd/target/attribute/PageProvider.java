package lunar.osd.target.attribute;

import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.wire.attribute.Attribute;
import lunar.scsi.Bytes;

/** Provides the attributes of one standard page. */
interface PageProvider {
    /** Returns a value; no bytes if it is not set. */
    Bytes get(AttributeScope scope, int number) throws StorageException;

    /**
     * Passes the attributes that are set, in the order of their numbers, until the consumer returns false.
     *
     * @return false if the consumer did
     */
    boolean all(AttributeScope scope, Predicate<Attribute> consumer) throws StorageException;

    /** Returns how an attribute may be set. */
    SetRule rule(int number);

    /** Sets an attribute to a value that its rule permits; no bytes delete it. */
    void set(AttributeChange change, int number, Bytes value)
            throws StorageException, RefusedException;
}
