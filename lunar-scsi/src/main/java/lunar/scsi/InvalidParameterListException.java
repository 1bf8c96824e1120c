package lunar.scsi;

import java.util.OptionalInt;
import lunar.scsi.SenseSpecific.FieldPointer;

/** Thrown for data-out with a wrong length or an invalid field. */
public final class InvalidParameterListException extends IllegalRequestException {
    public InvalidParameterListException(Sense sense) { super(sense); }

    /** PARAMETER LIST LENGTH ERROR (1Ah/00h): the list is cut. */
    public static InvalidParameterListException length() {
        return new InvalidParameterListException(Sense.of(SenseKey.ILLEGAL_REQUEST,
                AdditionalSense.PARAMETER_LIST_LENGTH_ERROR));
    }

    /** Another additional sense, with the byte in error. */
    public static InvalidParameterListException of(AdditionalSense additional, int byteAt) {
        return new InvalidParameterListException(
                Sense.of(SenseKey.ILLEGAL_REQUEST, additional).withSpecific(
                        new FieldPointer(false, Math.min(byteAt, 0xffff), OptionalInt.empty())));
    }

    /** INVALID FIELD IN PARAMETER LIST (26h/00h), with the byte in error. */
    public static InvalidParameterListException field(int byteAt) {
        return new InvalidParameterListException(Sense.invalidFieldInParameterList(byteAt));
    }

    /** INVALID FIELD IN PARAMETER LIST (26h/00h), with the byte and the most significant bit in error. */
    public static InvalidParameterListException field(int byteAt, int bit) {
        return new InvalidParameterListException(Sense.invalidFieldInParameterList(byteAt, bit));
    }
}
