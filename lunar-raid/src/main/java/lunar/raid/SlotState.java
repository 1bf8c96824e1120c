package lunar.raid;

/** What a slot of a volume is at the moment. */
public enum SlotState {
    /** Its member has all that belongs there. */
    ACTIVE,
    /** It has no member, or one that has missed writes. */
    FAILED,
    /** Its member gets what belongs there; the part before a checkpoint has it. */
    REBUILDING,
    /** A member that belongs to the volume and waits for a failure. */
    SPARE
}
