package lunar.osd.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;

/** Carries commands to a logical unit, each once and with any result. Thread-safe. */
interface CommandLink {
    /** Names the unit, for messages. */
    String name();

    /** Returns what is another object after another login. */
    default Object connection() throws StorageException {
        return this;
    }

    /** How long to go on with a unit that is busy, in milliseconds. */
    long patienceMs();

    /**
     * Returns how often the unit may have lost changes that it has acknowledged and not made stable. If the session has
     * ended, logs in first.
     */
    long losses() throws StorageException;

    /** Executes a command; any buffer that the calling thread may access. */
    ScsiResult execute(byte[] cdb, MemorySegment in, MemorySegment out) throws StorageException;

    /**
     * Starts a command. The future fails with a {@link StorageException}.
     *
     * @param in a buffer that any thread may access, in use until the future completes
     * @param out likewise
     */
    CompletableFuture<ScsiResult> start(byte[] cdb, MemorySegment in, MemorySegment out);
}
