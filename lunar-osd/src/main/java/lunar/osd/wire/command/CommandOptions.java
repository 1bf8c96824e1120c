package lunar.osd.wire.command;

/**
 * The options byte and the timestamps control of a CDB.
 *
 * <pre>
 * byte 10: 4 DPO   3 FUA   2..0 isolation; in FLUSH commands 1..0 flush scope
 * byte 12: 00h timestamps are updated, 7Fh they are not
 * </pre>
 *
 * @param isolation always the default in OSD-1 and in FLUSH commands, which have no place for it
 * @param fua force unit access: the command ends when its effects are on stable storage
 * @param dpo disable page out: data are not worth caching
 * @param bypassTimestamps whether timestamps stay as they are
 */
public record CommandOptions(Isolation isolation, boolean fua, boolean dpo,
        boolean bypassTimestamps) {
    /** Default isolation, no flags, timestamps updated. */
    public static final CommandOptions DEFAULT = new CommandOptions(Isolation.DEFAULT, false,
            false, false);

    static final int DPO = 0x10;
    static final int FUA = 0x08;
    static final int ISOLATION_MASK = 0x07;
    static final int ISOLATION_BIT = 2;

    static final int UPDATE_TIMESTAMPS = 0x00;
    static final int BYPASS_TIMESTAMPS = 0x7f;

    int optionsByte() { return (dpo ? DPO : 0) | (fua ? FUA : 0) | isolation.code(); }

    int timestampsControl() { return bypassTimestamps ? BYPASS_TIMESTAMPS : UPDATE_TIMESTAMPS; }
}
