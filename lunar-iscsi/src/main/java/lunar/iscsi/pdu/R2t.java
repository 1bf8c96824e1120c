package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * Ready To Transfer (RFC 7143 section 11.8): the target requests one burst of write data.
 *
 * @param ttt tag that the Data-Out PDUs return
 * @param statSn the next StatSN, not consumed
 * @param r2tSn R2TSN, from 0 in each command
 * @param bufferOffsetBytes Buffer Offset, unsigned
 * @param desiredBytes Desired Data Transfer Length, unsigned, not 0
 */
public record R2t(Lun lun, int itt, int ttt, int statSn, int expCmdSn, int maxCmdSn, int r2tSn,
        int bufferOffsetBytes, int desiredBytes) implements TargetPdu {
    public static final int OPCODE = 0x31;
    public static final int R2T_SN = 36;
    public static final int BUFFER_OFFSET = 40;
    public static final int DESIRED_DATA_TRANSFER_LENGTH = 44;

    public R2t {
        if (desiredBytes == 0 || itt == Bhs.NO_TAG || ttt == Bhs.NO_TAG) {
            throw new IllegalArgumentException("R2T for 0 bytes or without tags, itt=" + itt);
        }
    }

    public static R2t decode(Bhs bhs) throws ProtocolException {
        HeaderRule.requireFinal(bhs, "R2T", "11.8");
        HeaderRule.requireTask(bhs, "R2T", "11.8");
        HeaderRule.require(bhs.ttt() != Bhs.NO_TAG, "an R2T has a Target Transfer Tag", "11.8.5");
        HeaderRule.require(bhs.int32(DESIRED_DATA_TRANSFER_LENGTH) != 0,
                "an R2T must request more than 0 bytes", "11.8.4");
        return new R2t(new Lun(bhs.lun()), bhs.itt(), bhs.ttt(), bhs.int32(STAT_SN),
                bhs.int32(EXP_CMD_SN), bhs.int32(MAX_CMD_SN), bhs.int32(R2T_SN),
                bhs.int32(BUFFER_OFFSET), bhs.int32(DESIRED_DATA_TRANSFER_LENGTH));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, HeaderRule.FINAL).int64(LUN, lun.value()).int32(ITT, itt)
                .int32(TTT, ttt).int32(STAT_SN, statSn).int32(EXP_CMD_SN, expCmdSn)
                .int32(MAX_CMD_SN, maxCmdSn).int32(R2T_SN, r2tSn)
                .int32(BUFFER_OFFSET, bufferOffsetBytes)
                .int32(DESIRED_DATA_TRANSFER_LENGTH, desiredBytes);
    }
}
