package lunar.iscsi;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Signals an error between an initiator and a target, below SCSI. */
public abstract sealed class IscsiException extends IOException
        permits ProtocolException, LoginException, DigestException {
    IscsiException(String message, @Nullable Throwable cause) { super(message, cause); }
}
