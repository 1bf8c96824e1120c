package lunar.scsi;

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

    public ControlModePage {
        CdbDecoder.check("page length", parameters.length(), 0xff);
    }

    /** A page with D_SENSE, SWP and TAS alone, commands being reordered at will (QUEUE ALGORITHM MODIFIER 1). */
    public static ControlModePage of(boolean descriptorSense, boolean softwareWriteProtect,
            boolean taskAbortedStatus) {
        Bytes parameters = Bytes.of(new byte[LENGTH]).with(1, 1 << 4);
        parameters = ModePage.withBit(parameters, 0, D_SENSE, descriptorSense);
        parameters = ModePage.withBit(parameters, 2, SWP, softwareWriteProtect);
        return new ControlModePage(false,
                ModePage.withBit(parameters, 3, TAS, taskAbortedStatus));
    }

    /** A mask under which MODE SELECT may change D_SENSE and SWP. */
    static Bytes changeable(boolean descriptorSense, boolean softwareWriteProtect) {
        Bytes mask = Bytes.of(new byte[LENGTH]);
        return ModePage.withBit(ModePage.withBit(mask, 0, D_SENSE, descriptorSense), 2, SWP,
                softwareWriteProtect);
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
