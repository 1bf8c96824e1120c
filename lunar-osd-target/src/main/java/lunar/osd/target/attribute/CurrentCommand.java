package lunar.osd.target.attribute;

import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.scsi.Bytes;

/** Results of the command that is executed, for its current command attributes page. Belongs to its thread. */
public final class CurrentCommand {
    private ObjectType type;
    private ObjectId object;
    private long appendStart;
    private long usedCapacityChange;
    private Bytes responseValue = Bytes.EMPTY;

    /** Starts with the object that the command addresses. */
    public CurrentCommand(ObjectType type, ObjectId object) {
        this.type = type;
        this.object = object;
    }

    /** Sets the object that the command has created or found. */
    public void object(ObjectType ofType, ObjectId id) {
        type = ofType;
        object = id;
    }

    /** Returns the object. */
    public ObjectId object() { return object; }

    ObjectType type() { return type; }

    /** Sets the first byte that APPEND has written. */
    public void appendStart(long offset) {
        appendStart = offset;
    }

    long appendStart() { return appendStart; }

    /** Adds bytes by which the data of the object have grown; negative where they have shrunk. */
    public void grown(long bytes) {
        usedCapacityChange += bytes;
    }

    long usedCapacityChange() { return usedCapacityChange; }

    /** Sets the integrity check value of a response without sense data; no bytes if the method has none. */
    public void responseValue(Bytes value) {
        responseValue = value;
    }

    Bytes responseValue() { return responseValue; }
}
