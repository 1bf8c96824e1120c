package lunar.initiator;

import lunar.scsi.AdditionalSense;
import org.jspecify.annotations.Nullable;

/** Resets of a unit as reported by the unit attentions of a session (SPC-5 table F.1, ASC 29h), the worst last. */
public enum ResetTold {
    NOTHING,
    /** I_T NEXUS LOSS OCCURRED: the unit has lost a nexus, and nothing else. */
    NEXUS_LOSS,
    /**
     * 29h/00h and 29h/02h: the unit was reset, perhaps by losing power. Many targets send 29h/00h for each new
     * session.
     */
    RESET,
    /** POWER ON OCCURRED and DEVICE INTERNAL RESET. */
    POWER_ON;

    static final int ASC = 0x29;

    /**
     * Returns the meaning of an additional sense code; null where it does not concern a volatile cache. A logical unit
     * reset (29h/03h) ends tasks and leaves what they have written (SAM-5 section 6.3.3).
     */
    static @Nullable ResetTold of(AdditionalSense sense) {
        if (sense.asc() != ASC) {
            return null;
        }
        return switch (sense.ascq()) {
            case 0x00, 0x02 -> RESET;
            case 0x01, 0x04 -> POWER_ON;
            case 0x07 -> NEXUS_LOSS;
            default -> null;
        };
    }

    /** Returns the worse of two. */
    ResetTold and(ResetTold other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
