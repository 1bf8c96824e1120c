package lunar.scsi;

/** Thrown for a CDB with an invalid operation code or field. */
public final class InvalidCdbException extends IllegalRequestException {
    public InvalidCdbException(Sense sense) { super(sense); }

    /** INVALID COMMAND OPERATION CODE (20h/00h). */
    public static InvalidCdbException operationCode() {
        return new InvalidCdbException(Sense.of(SenseKey.ILLEGAL_REQUEST,
                AdditionalSense.INVALID_COMMAND_OPERATION_CODE));
    }

    /** INVALID FIELD IN CDB (24h/00h), with the byte in error. */
    public static InvalidCdbException field(int byteAt) {
        return new InvalidCdbException(Sense.invalidFieldInCdb(byteAt));
    }

    /** INVALID FIELD IN CDB (24h/00h), with the byte and the most significant bit of the field in error. */
    public static InvalidCdbException field(int byteAt, int bit) {
        return new InvalidCdbException(Sense.invalidFieldInCdb(byteAt, bit));
    }
}
