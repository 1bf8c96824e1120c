package lunar.target;

/** Executes the commands of one logical unit (SAM-5 section 4.6): of a block device, of an absent LUN, of an OSD. */
interface DeviceServer {
    /**
     * Looks at a command that has just arrived, before its data: calls {@link Task#accept} or {@link Task#refuse}.
     * Runs on the connection's loop.
     */
    void prepare(Task task);

    /**
     * Executes an accepted command whose data have come. Ends the task exactly once, now or later, on the
     * connection's loop, which it must not block.
     */
    void execute(Task task);

    /** Whether sense data go out in descriptor format (D_SENSE of the Control mode page). */
    default boolean descriptorSense() {
        return false;
    }
}
