package lunar.filter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Counts the open devices of this process that use a key file, independent of its path: erasing one by replacing its
 * key would destroy the others. A caller that checks and then acts must hold {@link #LOCK}.
 */
final class KeysInUse {
    static final Object LOCK = new Object();
    /** Guarded by the lock. */
    private static final Map<Object, Integer> DEVICES = new HashMap<>();

    private final Path path;
    /** Identity of the file; empty once the use has ended. Guarded by the lock. */
    private Optional<Object> file;

    private KeysInUse(Path path, Object file) {
        this.path = path;
        this.file = Optional.of(file);
    }

    /** Counts one more device as a user of a key file, which exists, until {@link #end}. */
    static KeysInUse begin(Path path) throws IOException {
        synchronized (KeysInUse.LOCK) {
            Object file = identity(path);
            DEVICES.merge(file, 1, Integer::sum);
            return new KeysInUse(path, file);
        }
    }

    private static Object identity(Path path) throws IOException {
        Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        return key == null ? path.toRealPath() : key;
    }

    /** Whether no other device uses the file. */
    boolean isSole() {
        synchronized (KeysInUse.LOCK) {
            return file.map(one -> DEVICES.getOrDefault(one, 0) == 1).orElse(true);
        }
    }

    /** Another file has taken the place of this one. */
    void replaced() throws IOException {
        synchronized (KeysInUse.LOCK) {
            if (file.isPresent()) {
                end();
                Object now = identity(path);
                DEVICES.merge(now, 1, Integer::sum);
                file = Optional.of(now);
            }
        }
    }

    /** The device has been closed. Idempotent. */
    void end() {
        synchronized (KeysInUse.LOCK) {
            file.ifPresent(one -> DEVICES.computeIfPresent(one,
                    (_, count) -> count == 1 ? null : count - 1));
            file = Optional.empty();
        }
    }
}
