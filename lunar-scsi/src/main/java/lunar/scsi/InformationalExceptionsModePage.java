package lunar.scsi;

/**
 * The Informational Exceptions Control mode page, 1Ch (SPC-5).
 *
 * @param saveable PS
 * @param parameters 10 bytes
 */
public record InformationalExceptionsModePage(boolean saveable, Bytes parameters)
        implements
        ModePage {
    public static final int CODE = 0x1c;

    private static final int LENGTH = 10;
    private static final int DEXCPT = 3;

    public InformationalExceptionsModePage {
        CdbDecoder.check("page length", parameters.length(), 0xff);
    }

    /** A page of a device that reports no informational exceptions. */
    public static InformationalExceptionsModePage disabled() {
        return new InformationalExceptionsModePage(false,
                ModePage.withBit(Bytes.of(new byte[LENGTH]), 0, DEXCPT, true));
    }

    /** DEXCPT: informational exceptions are not reported. */
    public boolean exceptionsDisabled() {
        return ModePage.bit(parameters, 0, DEXCPT);
    }

    /** MRIE: how informational exceptions are reported. */
    public int reportingMethod() {
        return parameters.length() > 1 ? parameters.at(1) & 0xf : 0;
    }

    @Override
    public int code() { return CODE; }
}
