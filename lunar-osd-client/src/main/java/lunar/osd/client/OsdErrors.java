package lunar.osd.client;

import java.io.IOException;
import java.util.Optional;
import lunar.block.StorageException;
import lunar.initiator.SenseException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.sense.ObjectIdentification;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;

/** Converts the failure of a command: what the device refuses has a type of its own, anything else stays as it is. */
final class OsdErrors {
    private static final int INVALID_OPCODE = 0x20;
    private static final int INVALID_FIELD_IN_CDB = 0x24;
    private static final int NO_SUCH_UNIT = 0x25;
    private static final int INVALID_FIELD_IN_LIST = 0x26;
    private static final int SEQUENCE = 0x2c;
    private static final int RESOURCES = 0x55;

    private static final int INVALID_DATA_OUT_INTEGRITY = 0x0f;
    private static final int CONTAINS_USER_OBJECTS = 0x0a;
    private static final int QUOTA = 0x07;
    /** Qualifiers of INVALID FIELD IN CDB: audit value frozen, working key frozen, nonce not unique or out of range. */
    private static final int FIRST_SECURITY = 0x04;
    private static final int LAST_SECURITY = 0x07;

    private static final int PARTITION_AT = 16;
    private static final int OBJECT_AT = 24;
    private static final int CAPABILITY_END = 236;

    private OsdErrors() {}

    static IOException of(StorageException failure, OsdCdb cdb, String what) {
        Optional<Sense> told = SenseException.of(failure);
        if (told.isEmpty() || !isRefusal(told.get())) {
            return failure;
        }
        Sense sense = told.get();
        ObjectId object = ObjectIdentification.of(sense).map(ObjectIdentification::object)
                .orElse(cdb.object());
        return refusal(sense, cdb, object, what, failure);
    }

    /**
     * Whether a failure tells what is in the device, which only a command that was admitted finds out: users take it
     * for an answer, as that an object does not exist.
     */
    static boolean tellsState(IOException failure) {
        return failure instanceof NoSuchObjectException || failure instanceof ObjectExistsException
                || failure instanceof NotEmptyException
                || failure instanceof QuotaExceededException;
    }

    private static boolean isRefusal(Sense sense) {
        int asc = sense.additional().asc();
        return switch (sense.key()) {
            case ILLEGAL_REQUEST -> asc != INVALID_OPCODE && asc != NO_SUCH_UNIT;
            case DATA_PROTECT -> isQuota(sense);
            default -> false;
        };
    }

    private static boolean isQuota(Sense sense) {
        return sense.key() == SenseKey.DATA_PROTECT && sense.additional().asc() == RESOURCES
                && sense.additional().ascq() == QUOTA;
    }

    private static OsdException refusal(Sense sense, OsdCdb cdb, ObjectId object, String what,
            StorageException failure) {
        String text = what + ": " + sense;
        if (isQuota(sense)) {
            return new QuotaExceededException(what + ": quota exceeded, " + sense, object, sense,
                    failure);
        }
        int asc = sense.additional().asc();
        int ascq = sense.additional().ascq();
        if (asc == SEQUENCE && ascq == CONTAINS_USER_OBJECTS) {
            return new NotEmptyException(what + ": not empty", object, sense, failure);
        }
        boolean integrity = asc == INVALID_FIELD_IN_LIST && ascq == INVALID_DATA_OUT_INTEGRITY;
        if (integrity || isSecurity(sense)) {
            return new AccessDeniedException(text, object, sense, failure);
        }
        if (asc == INVALID_FIELD_IN_CDB && ascq == 0) {
            int field = field(sense);
            if (isRequestedId(cdb, field)) {
                return new ObjectExistsException(what + ": exists already", object, sense, failure);
            }
            if (field == PARTITION_AT || field == OBJECT_AT) {
                return new NoSuchObjectException(what + ": no such object", object, sense,
                        failure);
            }
        }
        return new CommandRejectedException(text, object, sense, failure);
    }

    private static boolean isSecurity(Sense sense) {
        if (sense.additional().asc() != INVALID_FIELD_IN_CDB) {
            return false;
        }
        int ascq = sense.additional().ascq();
        int field = field(sense);
        return (ascq >= FIRST_SECURITY && ascq <= LAST_SECURITY)
                || (ascq == 0 && field >= Capability.AT && field < CAPABILITY_END);
    }

    /** Offset of the field of the CDB that is in error; -1 if none is named. */
    private static int field(Sense sense) {
        return sense.fieldPointer().filter(SenseSpecific.FieldPointer::inCdb)
                .map(SenseSpecific.FieldPointer::byteAt).orElse(-1);
    }

    /** Whether a field has the identifier of the object that a command creates. */
    private static boolean isRequestedId(OsdCdb cdb, int field) {
        ServiceAction action = cdb.action();
        return switch (action) {
            case CREATE_PARTITION -> field == PARTITION_AT;
            case CREATE, CREATE_AND_WRITE, CREATE_COLLECTION, CREATE_USER_TRACKING_COLLECTION ->
                field == OBJECT_AT && cdb.object().object() != 0;
            default -> false;
        };
    }
}
