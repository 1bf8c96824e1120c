package lunar.initiator;

/** Resets of a unit reported by unit attentions of a session (SPC-5 table F.1, ASC 29h), in order of severity. */
public enum ReportedReset {
    NOTHING,
    /** I_T NEXUS LOSS OCCURRED: the unit has lost only a nexus. */
    NEXUS_LOSS,
    /**
     * 29h/00h and 29h/02h: the unit was reset, perhaps by losing power. Many targets send 29h/00h for each new
     * session.
     */
    RESET,
    /** POWER ON OCCURRED and DEVICE INTERNAL RESET. */
    POWER_ON
}
