package lunar.loop;

import java.io.IOException;

/**
 * The events of a transport's connections, such as those of a selector or of completion queues. All methods but
 * {@link #wakeup} are called by the thread that runs the loop. The source handles each event on that thread before the
 * method returns; a failure of one connection must not be thrown, because it would affect the others.
 */
public interface EventSource extends AutoCloseable {
    /**
     * Handles the events that are there, without waiting for one.
     *
     * @return whether there was any
     */
    boolean poll() throws IOException;

    /**
     * Waits for events and handles them. Returns without one after {@link #wakeup}, when the time is over, when the
     * thread is interrupted, or for no reason.
     *
     * @param limitMs longest wait in milliseconds; 0 for no limit
     */
    void await(long limitMs) throws IOException;

    /**
     * Ends the {@link #await} that is in progress; without one, the next returns at once. Called by any thread, also
     * after {@link #close}.
     */
    void wakeup();

    /** Returns how many connections and listeners this source has. */
    int size();

    /** Ends all connections and frees the source's resources. Called once, when the loop ends. */
    @Override
    void close();
}
