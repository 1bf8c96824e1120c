package lunar.scsi.target;

/** Executes the commands of one logical unit (SAM-5 section 4.6), or of LUNs where there is none. */
public interface DeviceServer {
    /**
     * Looks at a command that has just arrived, before its data: calls {@link ScsiTask#accept} or
     * {@link ScsiTask#refuse}. Runs on the task's loop.
     */
    void prepare(ScsiTask task);

    /**
     * Executes an accepted command once its data have come. Ends the task exactly once, now or later, on its loop,
     * which it must not block.
     */
    void execute(ScsiTask task);

    /** Called when an executed task has ended, and the device has let go of it. On the task's loop. */
    default void ended(ScsiTask task) {}

    /** Whether sense data go out in descriptor format (D_SENSE of the Control mode page). */
    default boolean descriptorSense() {
        return false;
    }

    /** Called when the medium has failed a request of this task, to count that. */
    default void failed(ScsiTask task) {}

    /** Called when the device has told this task that acknowledged writes, also of other nexuses, may be lost. */
    default void lostWrites(ScsiTask task) {}
}
