package lunar.store;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;

/** Maps an IOException of the operating system to a StorageException. Java exposes errno only as text. */
final class IoFailure {
    private static final List<String> NO_SPACE = List.of("No space left", "quota exceeded",
            "not enough space");

    private IoFailure() {}

    /** @param what the operation, the device and the place, which begin the message */
    static StorageException of(String what, IOException e) {
        if (e instanceof StorageException known) {
            return known;
        }
        if (e instanceof ClosedChannelException) {
            return new DeviceGoneException(what + ": closed", e);
        }
        String reason = String.valueOf(e.getMessage());
        if (NO_SPACE.stream().anyMatch(reason::contains)) {
            return new NoSpaceException(what + ": no space left on the file system", e);
        }
        return new MediumException(what + ": " + reason, e);
    }
}
