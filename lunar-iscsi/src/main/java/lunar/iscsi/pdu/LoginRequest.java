package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;

/**
 * Login Request (RFC 7143 section 11.12). Encoded as immediate; a request without the I bit is accepted too, because
 * some initiators omit it, and consumes its CmdSN.
 *
 * <pre>
 * Byte/     0       |       1       |       2       |       3       |
 *    0|.|1| 0x03    |T|C|.|.|CSG|NSG| Version-max   | Version-min   |
 *    8| ISID                                                        |
 *   12|                               | TSIH                        |
 *   16| Initiator Task Tag                                          |
 *   20| CID                           | Reserved                    |
 * </pre>
 *
 * @param transit T: requests the transition from the current stage to the next
 * @param continues C: the text continues in the next request
 * @param nextStage equal to the current stage without transit
 * @param versionMax raw, because an unsupported version has its own response
 * @param tsih 0 for a new session
 */
public record LoginRequest(boolean transit, boolean continues, LoginStage currentStage,
        LoginStage nextStage, int versionMax, int versionMin, Isid isid, int tsih, int itt,
        int cid, int cmdSn, int expStatSn) implements InitiatorPdu {
    public static final int OPCODE = 0x03;
    public static final int VERSION_MAX = 2;
    public static final int VERSION_MIN = 3;
    public static final int ISID = 8;
    public static final int TSIH = 14;
    public static final int CID = 20;

    /** The version which RFC 7143 defines. */
    public static final int VERSION = 0;

    public LoginRequest {
        if (!transit) {
            nextStage = currentStage; // NSG is reserved without T
        } else if (continues || !currentStage.leadsTo(nextStage)) {
            throw new IllegalArgumentException("login from " + currentStage + " to " + nextStage
                    + (continues ? " with text to come" : ""));
        }
    }

    public static LoginRequest decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireTask(bhs, "Login Request", "11.2.1.8");
        LoginFlags flags = LoginFlags.decode(bhs);
        flags.requireTransition();
        return new LoginRequest(flags.transit(), flags.continues(), flags.currentStage(),
                flags.nextStage(), bhs.int8(VERSION_MAX), bhs.int8(VERSION_MIN),
                Isid.decode(bhs), bhs.int16(TSIH), bhs.itt(), bhs.int16(CID), bhs.int32(CMD_SN),
                bhs.int32(EXP_STAT_SN));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public boolean immediate() { return true; }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, true,
                new LoginFlags(transit, continues, currentStage, nextStage).encode())
                .int8(VERSION_MAX, versionMax).int8(VERSION_MIN, versionMin)
                .int64(ISID, isid.value() << 16 | tsih).int32(ITT, itt).int16(CID, cid)
                .int32(CMD_SN, cmdSn).int32(EXP_STAT_SN, expStatSn);
    }
}
