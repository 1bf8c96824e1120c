package lunar.fs;

import java.io.IOException;

/** Maps offsets in a file to runs on the volume. May be stateful, and is not thread-safe then. */
@FunctionalInterface
interface RunMap {
    /**
     * The run around a byte of the file.
     *
     * @throws CorruptException if there is none by the rules of the format
     */
    Run at(long position) throws IOException;
}
