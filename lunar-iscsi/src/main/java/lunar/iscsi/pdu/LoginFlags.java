package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/** Byte 1 of both login PDUs: {@code |T|C|.|.|CSG|NSG|} (RFC 7143 sections 11.12.1 to 11.12.3). */
record LoginFlags(boolean transit, boolean continues, LoginStage currentStage,
        LoginStage nextStage) {
    private static final int CSG_SHIFT = 2;
    private static final int STAGE_MASK = 3;

    static LoginFlags decode(Bhs bhs) throws ProtocolException {
        int flags = bhs.flags();
        boolean transit = bhs.isFinal();
        LoginStage current = LoginStage.decode(flags >> CSG_SHIFT & STAGE_MASK, "CSG");
        // NSG is reserved without T, and some targets leave the CSG or the initiator's NSG there.
        LoginStage next = transit ? LoginStage.decode(flags & STAGE_MASK, "NSG") : current;
        return new LoginFlags(transit, (flags & HeaderRule.CONTINUE) != 0, current, next);
    }

    /** Throws where T, C and the stages do not go together. */
    void requireTransition() throws ProtocolException {
        HeaderRule.require(!(transit && continues), "T and C exclude each other", "11.12.2");
        HeaderRule.require(currentStage != LoginStage.FULL_FEATURE,
                "CSG must be a stage of the login", "11.12.3");
        HeaderRule.require(!transit || currentStage.leadsTo(nextStage),
                "invalid login transition from " + currentStage + " to " + nextStage, "6.3");
    }

    int encode() {
        return (transit ? HeaderRule.FINAL : 0) | (continues ? HeaderRule.CONTINUE : 0)
                | currentStage.code() << CSG_SHIFT | (transit ? nextStage.code() : 0);
    }
}
