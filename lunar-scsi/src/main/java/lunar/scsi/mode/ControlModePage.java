package lunar.scsi.mode;

import lunar.scsi.Bytes;
import lunar.scsi.wire.CdbFields;

/**
 * The Control mode page, 0Ah (SPC-5).
 *
 * @param saveable PS
 * @param parameters 10 bytes
 */
public record ControlModePage(boolean saveable, Bytes parameters) implements ModePage {
    public static final int CODE = 0x0a;

    private static final int LENGTH = 10;
    private static final int D_SENSE = 2;
    private static final int SWP = 3;
    private static final int TAS = 6;
    private static final int GLTSD = 1;
    private static final int TASK_SET_FOR_EACH_NEXUS = 1 << 5;

    public ControlModePage {
        CdbFields.check("page length", parameters.length(), 0xff);
    }

    /**
     * Returns the page of a logical unit with a task set for each nexus (TST 001b), in which commands are reordered at
     * will (QUEUE ALGORITHM MODIFIER 1), and with log parameters that are never saved (GLTSD).
     *
     * @param extendedSelfTestS EXTENDED SELF-TEST COMPLETION TIME in seconds
     */
    public static ControlModePage of(boolean descriptorSense, boolean softwareWriteProtect,
            boolean taskAbortedStatus, int extendedSelfTestS) {
        CdbFields.check("extendedSelfTestS", extendedSelfTestS, 0xffff);
        Bytes parameters = Bytes.of(new byte[LENGTH]).with(0, TASK_SET_FOR_EACH_NEXUS | 1 << GLTSD)
                .with(1, 1 << 4).with(8, extendedSelfTestS >> 8).with(9, extendedSelfTestS);
        parameters = ModePage.withBit(parameters, 0, D_SENSE, descriptorSense);
        parameters = ModePage.withBit(parameters, 2, SWP, softwareWriteProtect);
        return new ControlModePage(false,
                ModePage.withBit(parameters, 3, TAS, taskAbortedStatus));
    }

    /** A mask under which MODE SELECT may change D_SENSE and SWP. */
    public static Bytes changeable() {
        Bytes mask = Bytes.of(new byte[LENGTH]);
        return ModePage.withBit(ModePage.withBit(mask, 0, D_SENSE, true), 2, SWP, true);
    }

    /** D_SENSE: sense data come in descriptor format. */
    public boolean descriptorSense() {
        return ModePage.bit(parameters, 0, D_SENSE);
    }

    /** SWP: writes are refused. */
    public boolean softwareWriteProtect() {
        return ModePage.bit(parameters, 2, SWP);
    }

    /** TAS: commands that another nexus aborted end with TASK ABORTED. */
    public boolean taskAbortedStatus() {
        return ModePage.bit(parameters, 3, TAS);
    }

    @Override
    public int code() { return CODE; }
}
