package lunar.fs;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a file system operation fails, other than by a device failure, which is a
 * {@link lunar.block.StorageException}. The message is one line for the user.
 */
public abstract sealed class FsException extends IOException permits CorruptException,
        NotFoundException,
        UnsupportedException,
        WrongKindException {
    private static final long serialVersionUID = 1;

    FsException(String message, @Nullable Throwable cause) { super(message, cause); }
}
