package lunar.scsi;

/** Data-in of a device that cannot be read. The message names the field. */
public final class MalformedDataException extends ScsiException {
    public MalformedDataException(String message) { super(message); }
}
