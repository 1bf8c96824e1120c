package lunar.scsi.target;

/** Executes the commands of one logical unit (SAM-5 section 4.6), or of LUNs without a logical unit. */
public interface DeviceServer {
    /**
     * Checks a command on arrival, before its data: calls {@link ScsiTask#accept} or {@link ScsiTask#refuse}. Runs on
     * the task's loop.
     */
    void prepare(ScsiTask task);

    /**
     * Executes an accepted command after its data-out has arrived. Ends the task exactly once, now or later, on its
     * event loop. Must not block.
     */
    void execute(ScsiTask task);

    /** Returns the bytes of data-in that an accepted command is to read, whatever the initiator expects. */
    default long dataInBytes(ScsiTask task) {
        return task.expectedInBytes();
    }

    /** Called when an executed task has ended and the device no longer uses it. Runs on the task's loop. */
    default void ended(ScsiTask task) {}

    /** Whether sense data is returned in descriptor format (D_SENSE of the Control mode page). */
    default boolean descriptorSense() {
        return false;
    }

    /** Called when a request of this task failed with a medium error, for the error counters. */
    default void failed(ScsiTask task) {}

    /**
     * Called when the device has reported to this task that acknowledged writes, possibly of other nexuses, may be
     * lost.
     */
    default void lostWrites(ScsiTask task) {}
}
