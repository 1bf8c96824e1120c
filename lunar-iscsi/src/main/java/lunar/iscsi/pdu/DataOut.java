package lunar.iscsi.pdu;

import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;

/**
 * SCSI Data-Out (RFC 7143 section 11.7): data of a command that writes.
 *
 * @param isFinal F: the last of its sequence
 * @param lun LUN of the command; reserved without a Target Transfer Tag, but some initiators set it
 * @param ttt tag of the R2T that requested the data, {@link Bhs#NO_TAG} for unsolicited data
 * @param dataSn DataSN, from 0 in each sequence
 * @param bufferOffsetBytes Buffer Offset, unsigned
 */
public record DataOut(boolean isFinal, Lun lun, int itt, int ttt, int expStatSn, int dataSn,
        int bufferOffsetBytes) implements InitiatorPdu {
    public static final int OPCODE = 0x05;
    public static final int DATA_SN = 36;
    public static final int BUFFER_OFFSET = 40;

    /** Checks a header for a caller that reads its fields in place. */
    public static void check(Bhs bhs) throws ProtocolException {
        HeaderRule.requireTask(bhs, "Data-Out", "11.2.1.8");
    }

    public static DataOut decode(Bhs bhs) throws ProtocolException {
        check(bhs);
        return new DataOut(bhs.isFinal(), new Lun(bhs.lun()), bhs.itt(), bhs.ttt(),
                bhs.int32(EXP_STAT_SN), bhs.int32(DATA_SN), bhs.int32(BUFFER_OFFSET));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public boolean immediate() { return false; }

    /** Whether an R2T asked for the data. */
    public boolean isSolicited() {
        return ttt != Bhs.NO_TAG;
    }

    @Override
    public void encode(Bhs bhs) {
        bhs.start(OPCODE, false, isFinal ? HeaderRule.FINAL : 0).int64(LUN, lun.value())
                .int32(ITT, itt).int32(TTT, ttt).int32(EXP_STAT_SN, expStatSn)
                .int32(DATA_SN, dataSn).int32(BUFFER_OFFSET, bufferOffsetBytes);
    }
}
