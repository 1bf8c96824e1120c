package lunar.scsi;

import java.io.IOException;

/** Thrown for SCSI data that cannot be decoded. */
public abstract sealed class ScsiException extends IOException
        permits IllegalRequestException, MalformedDataException {
    ScsiException(String message) { super(message); }
}
