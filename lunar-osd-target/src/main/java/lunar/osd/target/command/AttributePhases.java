package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectWriter;
import lunar.osd.store.StoredObject;
import lunar.osd.target.attribute.AttributeChange;
import lunar.osd.target.attribute.AttributeReader;
import lunar.osd.target.attribute.AttributeScope;
import lunar.osd.target.attribute.CurrentCommand;
import lunar.osd.target.attribute.DeviceFacts;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.SetEntry;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributesListWriter;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.scsi.Bytes;

/** Gets and sets the attributes that a command asks for. Belongs to the thread of the command. */
final class AttributePhases {
    /** Most bytes of attributes in an entry for one of several objects; further ones are left out. */
    private static final int MAX_OBJECT_LIST = 0xffff;

    private final AttributeRequests requests;
    private final OsdVersion version;
    private final CurrentCommand current;
    private final DeviceFacts facts;
    private final BooleanSupplier aborted;

    /** @param aborted whether the command is aborted, so that long requests end early */
    AttributePhases(AttributeRequests requests, OsdVersion version, CurrentCommand current,
            DeviceFacts facts, BooleanSupplier aborted) {
        this.requests = requests;
        this.version = version;
        this.current = current;
        this.facts = facts;
        this.aborted = aborted;
    }

    /** Returns the facts of a device without the space of its medium, which only attributes of the root need. */
    static DeviceFacts facts(DeviceState device, ObjectId object, long nowMs)
            throws StorageException {
        Usage usage = object.isRoot() ? device.store().usage() : new Usage(0, 0);
        return new DeviceFacts(device.identity(), usage, OsdLimits.MAX_CONTINUATION, nowMs,
                device.security());
    }

    /** Refuses attributes that objects of a type cannot be set to. */
    void check(ObjectType type, boolean byFormat) throws RefusedException {
        for (SetEntry entry : requests.sets()) {
            entry.check(type, byFormat);
        }
    }

    /** Sets the attributes of an object, which were checked; not all of them if the command is aborted. */
    void set(ObjectWriter objects, StoredObject object)
            throws StorageException, RefusedException {
        var change = new AttributeChange(objects, object);
        for (SetEntry entry : requests.sets()) {
            if (aborted.getAsBoolean()) {
                return;
            }
            entry.set(change);
        }
    }

    private AttributeScope scope(ObjectReader objects, StoredObject object) {
        return new AttributeScope(objects, object, version, current, facts);
    }

    /** Writes the attributes of one object to data-in. */
    void get(ObjectReader objects, StoredObject object, DataIn in) throws StorageException {
        AttributeScope scope = scope(objects, object);
        if (requests.page().isPresent()) {
            byte[] page = AttributeReader.page(scope, requests.page().getAsInt()).bytes();
            var target = in.retrieved();
            int length = (int) Math.min(page.length, target.byteSize());
            MemorySegment.copy(MemorySegment.ofArray(page), 0,
                    target, 0, length);
            in.retrievedLength(length);
            return;
        }
        var list = AttributesListWriter.retrieved(in.retrieved(), version);
        for (AttributeId id : requests.list()) {
            if (!AttributeReader.get(scope, id, list::add) || aborted.getAsBoolean()) {
                break;
            }
        }
        in.retrievedLength(list.finish());
    }

    /** Returns the value of an attribute of an object; no bytes if it is not set. */
    Bytes value(ObjectReader objects, StoredObject object, AttributeId id)
            throws StorageException {
        return AttributeReader.value(scope(objects, object), id);
    }

    /** Returns the attributes of one of several objects, as many as an entry of a list has place for. */
    ObjectAttributes of(ObjectReader objects, StoredObject object) throws StorageException {
        AttributeScope scope = scope(objects, object);
        var attributes = new ArrayList<Attribute>();
        int[] length = {0};
        for (AttributeId id : requests.list()) {
            boolean more = AttributeReader.get(scope, id, attribute -> {
                length[0] += AttributesListWriter.lengthOf(List.of(attribute));
                if (length[0] <= MAX_OBJECT_LIST) {
                    attributes.add(attribute);
                }
                return length[0] <= MAX_OBJECT_LIST;
            });
            if (!more || aborted.getAsBoolean()) {
                break;
            }
        }
        ObjectId id = object.id();
        return new ObjectAttributes(id.object() == 0 ? id.partition() : id.object(),
                object.type(), attributes);
    }

    /** Writes the attributes of several objects to data-in. */
    void get(ObjectReader objects, List<StoredObject> several, DataIn in)
            throws StorageException {
        var list = AttributesListWriter.ofObjects(in.retrieved(), version);
        for (StoredObject object : several) {
            if (!list.add(of(objects, object)) || aborted.getAsBoolean()) {
                break;
            }
        }
        in.retrievedLength(list.finish());
    }
}
