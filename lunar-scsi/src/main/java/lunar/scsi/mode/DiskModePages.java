package lunar.scsi.mode;

import java.util.ArrayList;
import lunar.scsi.Bytes;
import lunar.scsi.mode.ModePages.Entry;

/** The mode pages of a direct-access block device (SPC-5, SBC-4) at their defaults. */
public final class DiskModePages {
    private static final int READ_WRITE_RECOVERY = 0x01;
    private static final int VERIFY_RECOVERY = 0x07;
    private static final int CONTROL_EXTENSION = 0x01;
    private static final int POWER_CONDITION = 0x1a;
    private static final int AWRE_ARRE = 0xc0;
    private static final int IALUAE = 0x01;

    private DiskModePages() {}

    /**
     * The pages of a disk. Of these may be changed WCE, D_SENSE, SWP, how informational exceptions are told, and the
     * thresholds.
     *
     * @param thresholds whether the unit knows how full it is: with the page of thresholds
     * @param saveable whether MODE SELECT may save them
     * @param extendedSelfTestS longest extended self-test in seconds
     * @param maxSenseLength MAXIMUM SENSE DATA LENGTH in bytes
     */
    public static ModePages of(boolean thresholds, boolean saveable, int extendedSelfTestS,
            int maxSenseLength) {
        var entries = new ArrayList<Entry>();
        entries.add(Entry.fixed(new OtherModePage(READ_WRITE_RECOVERY, 0, false,
                Bytes.of(new byte[10]).with(0, AWRE_ARRE))));
        entries.add(Entry.fixed(
                new OtherModePage(VERIFY_RECOVERY, 0, false, Bytes.of(new byte[10]))));
        entries.add(Entry.of(CachingModePage.of(true), CachingModePage.changeable()));
        entries.add(Entry.of(ControlModePage.of(false, false, false, extendedSelfTestS),
                ControlModePage.changeable()));
        entries.add(Entry.fixed(new OtherModePage(ControlModePage.CODE, CONTROL_EXTENSION, false,
                Bytes.of(new byte[28]).with(0, IALUAE).with(2, maxSenseLength))));
        entries.add(Entry.fixed(
                new OtherModePage(POWER_CONDITION, 0, false, Bytes.of(new byte[38]))));
        entries.add(Entry.of(InformationalExceptionsModePage.onRequest(),
                InformationalExceptionsModePage.changeable()));
        if (thresholds) {
            entries.add(Entry.of(ProvisioningModePage.disabled(),
                    ProvisioningModePage.changeable()));
        }
        return ModePages.of(entries, saveable);
    }
}
