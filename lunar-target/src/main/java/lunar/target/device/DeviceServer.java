package lunar.target.device;

/** Executes the commands of one logical unit (SAM-5 section 4.6): of a block device, of an absent LUN, of an OSD. */
public interface DeviceServer {
    /**
     * Looks at a command that has just arrived, before its data: calls {@link ScsiTask#accept} or
     * {@link ScsiTask#refuse}. Runs on the task's loop.
     */
    void prepare(ScsiTask task);

    /**
     * Executes an accepted command whose data have come. Ends the task exactly once, now or later, on its loop, which
     * it must not block.
     */
    void execute(ScsiTask task);

    /** A task that was given to {@link #execute} has ended, and the device has let go of it. On the task's loop. */
    default void ended(ScsiTask task) {}

    /** Whether sense data go out in descriptor format (D_SENSE of the Control mode page). */
    default boolean descriptorSense() {
        return false;
    }

    /** The medium has failed a request of this task: for who counts that. */
    default void failed(ScsiTask task) {}

    /** The device has told this task that acknowledged writes may be lost, also those of other nexuses. */
    default void lostWrites(ScsiTask task) {}
}
