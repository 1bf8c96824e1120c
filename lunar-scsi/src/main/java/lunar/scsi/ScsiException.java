package lunar.scsi;

import java.io.IOException;

/** Bytes of SCSI that cannot be taken. */
public abstract sealed class ScsiException extends IOException
        permits IllegalRequestException, MalformedDataException {
    ScsiException(String message) { super(message); }
}
