package lunar.fs;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Signals a failure of a file system, apart from its device, which fails with a
 * {@link lunar.block.StorageException}. The message is one line for a person.
 */
public abstract sealed class FsException extends IOException permits CorruptException,
        NotFoundException,
        UnsupportedException,
        WrongKindException {
    private static final long serialVersionUID = 1;

    FsException(String message, @Nullable Throwable cause) { super(message, cause); }
}
