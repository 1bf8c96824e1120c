package lunar.scsi;

/** Thrown for data-in of a device that cannot be decoded. The message names the field. */
public final class MalformedDataException extends ScsiException {
    public MalformedDataException(String message) { super(message); }
}
