package lunar.osd.s3.backend;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;

/**
 * Objects of a device. A change of one object is atomic; setting several attributes need not be. Nothing is on stable
 * storage before a flush. Thread-safe; streams are for one thread. All methods throw an {@link IOException} if the
 * device fails or refuses, and it is then open whether a change was made.
 */
public interface ObjectBackend {
    /**
     * An object of a list.
     *
     * @param id its identifier in its container
     * @param attributes those that were asked for, in that order; unset ones have no value
     */
    record Listed(long id, List<Attribute> attributes) {
        public Listed {
            attributes = List.copyOf(attributes);
        }
    }

    /** Thrown when a quota of the device would be exceeded. */
    final class QuotaException extends IOException {
        private static final long serialVersionUID = 1;

        public QuotaException(String message, Throwable cause) { super(message, cause); }
    }

    /** Thrown when an object cannot be created because its identifier is taken: the object is another one's. */
    final class ExistsException extends IOException {
        private static final long serialVersionUID = 1;

        public ExistsException(String message, Throwable cause) { super(message, cause); }
    }

    /** Returns all partitions by ascending identifiers. */
    List<Listed> partitions(List<AttributeId> attributes) throws IOException;

    /** Creates a partition with attributes and returns its identifier. */
    long createPartition(List<Attribute> attributes) throws IOException;

    /** Removes a partition; returns false if it has objects, and has no effect if there is none. */
    boolean removePartition(long partition) throws IOException;

    /**
     * Returns user objects of a partition by ascending identifiers; none if it does not exist.
     *
     * @param from smallest identifier, unsigned
     * @param max most objects; fewer may be returned only at the end
     */
    List<Listed> list(long partition, long from, int max, List<AttributeId> attributes)
            throws IOException;

    /** Returns attributes of an object in the order asked for; empty if the object does not exist. */
    Optional<List<Attribute>> attributes(ObjectId object, List<AttributeId> attributes)
            throws IOException;

    /** Creates an object without data. */
    void create(ObjectId object, List<Attribute> attributes) throws IOException;

    /** Sets attributes of an object. */
    void set(ObjectId object, List<Attribute> attributes) throws IOException;

    /**
     * Creates an object with attributes and opens a stream that writes its data. The object exists at the latest when
     * the stream is closed. A failure is thrown by any later call of the stream; an {@link ExistsException} if the
     * identifier is taken, and then nothing is changed.
     */
    OutputStream write(ObjectId object, List<Attribute> attributes) throws IOException;

    /** Opens a stream of a range of the data. It ends early where the object does. */
    InputStream read(ObjectId object, long offset, long length) throws IOException;

    /** Removes an object; no effect if it does not exist. */
    void remove(ObjectId object) throws IOException;

    /**
     * Makes data and attributes of an object stable; of a partition, which objects it has; of the root, everything.
     *
     * @return false if the object does not exist, and nothing was made stable, not even its removal
     */
    boolean flush(ObjectId object) throws IOException;

    /**
     * Returns how often the device may have lost changes before they were stable. A change is stable after a flush if
     * this number is then what it was before the change.
     */
    long losses() throws IOException;
}
