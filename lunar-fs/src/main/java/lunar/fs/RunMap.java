package lunar.fs;

import java.io.IOException;

/** Where the bytes of a file are. May keep its place, and is for one thread then. */
@FunctionalInterface
interface RunMap {
    /**
     * The run around a byte of the file.
     *
     * @throws CorruptException when there is none by the rules of the format
     */
    Run at(long position) throws IOException;
}
