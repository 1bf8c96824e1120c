package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * CREATE: creates user objects.
 *
 * @param common common fields
 * @param object partition and requested User_Object_ID; object 0 if the device chooses
 * @param numberOfObjects 16 bits, see {@link #objectCount}; more than one only if the device chooses
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record CreateCommand(CommonFields common, ObjectId object, int numberOfObjects,
        long continuationLength) implements OsdCdb {
    public CreateCommand {
        common.checkContinuation(continuationLength);
        Fields.check("numberOfObjects", numberOfObjects, object.object() == 0 ? 0xffff : 1);
    }

    static CreateCommand decode(CdbReader cdb) throws InvalidCdbException {
        int number = cdb.int16(numberAt(cdb.common().version()));
        ObjectId object = cdb.object();
        if (number > 1 && object.object() != 0) {
            throw InvalidCdbException.field(CdbLayout.OBJECT_AT);
        }
        return new CreateCommand(cdb.common(), object, number, cdb.continuationLength());
    }

    private static int numberAt(OsdVersion version) { return CdbLayout.lengthAt(version); }

    /** How many objects to create: a number of 0 means one. */
    public int objectCount() {
        return Math.max(1, numberOfObjects);
    }

    @Override
    public ServiceAction action() { return ServiceAction.CREATE; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object)
                .int16(numberAt(common.version()), numberOfObjects)
                .continuationLength(continuationLength);
    }
}
