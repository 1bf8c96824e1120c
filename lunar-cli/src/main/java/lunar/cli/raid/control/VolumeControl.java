package lunar.cli.raid.control;

import java.io.IOException;
import tools.jackson.databind.JsonNode;

/** Operations of people on a volume, wherever it runs. Errors are IOExceptions with one line for a person. */
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
     * Takes a member back that was taken out, or makes a device a spare.
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

    /** Whether it runs in another process, and goes on when this is closed. */
    boolean isElsewhere();

    @Override
    void close() throws IOException;
}
