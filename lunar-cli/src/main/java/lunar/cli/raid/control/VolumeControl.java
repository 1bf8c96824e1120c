package lunar.cli.raid.control;

import java.io.IOException;
import tools.jackson.databind.JsonNode;

/** Operations on a volume, in this process or another one. Errors are IOExceptions with a message of one line. */
public interface VolumeControl extends AutoCloseable {
    /** How it is, as docs/iraid.md describes it. */
    JsonNode status() throws IOException;

    /** Takes a member out. */
    void fail(String slot) throws IOException;

    /**
     * Puts another device in a slot, and begins to rebuild it.
     *
     * @param slot its number, or the URI that it has now
     * @return the slot's number
     */
    int replace(String slot, String uri, boolean force) throws IOException;

    /**
     * Re-adds a failed member, or adds a device as a spare.
     *
     * @param name URI, or the number of a slot
     * @return the slot's number; -1 for a spare
     */
    int add(String name, boolean force) throws IOException;

    /** Makes a spare leave the volume. */
    void remove(String name) throws IOException;

    /**
     * Adds one member.
     *
     * @return the new slot's number
     */
    int grow(String uri, boolean force) throws IOException;

    /** Begins a scrub; nothing where one is going on. */
    void scrub(boolean repair) throws IOException;

    /** Stops the volume, wherever it runs. */
    void stop() throws IOException;

    /** Whether it runs in another process, and continues when this is closed. */
    boolean isElsewhere();

    @Override
    void close() throws IOException;
}
