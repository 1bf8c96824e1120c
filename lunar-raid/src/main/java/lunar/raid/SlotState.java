package lunar.raid;

/** The state of a slot of a volume. */
public enum SlotState {
    /** Its member is complete. */
    ACTIVE,
    /** The slot has no member, or one that has missed writes. */
    FAILED,
    /** Its member is being rebuilt; the part before a checkpoint is complete. */
    REBUILDING,
    /** A member that belongs to the volume and waits for a failure. */
    SPARE
}
