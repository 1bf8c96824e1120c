package lunar.scsi.mode;

import lunar.scsi.Bytes;
import lunar.scsi.wire.CdbFields;

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
    /** MRIE: by a unit attention condition. */
    public static final int UNIT_ATTENTION = 2;
    /** MRIE: in the data of REQUEST SENSE alone. */
    public static final int ON_REQUEST = 6;

    private static final int LENGTH = 10;
    private static final int DEXCPT = 3;
    private static final int TEST = 2;

    public InformationalExceptionsModePage {
        CdbFields.check("page length", parameters.length(), 0xff);
    }

    /** A page of a device that tells of exceptions when it is asked by REQUEST SENSE. */
    public static InformationalExceptionsModePage onRequest() {
        return new InformationalExceptionsModePage(false,
                Bytes.of(new byte[LENGTH]).with(1, ON_REQUEST));
    }

    /** A mask under which MODE SELECT may change DEXCPT, TEST and MRIE. */
    static Bytes changeable() {
        return Bytes.of(new byte[LENGTH]).with(0, 1 << DEXCPT | 1 << TEST).with(1, 0xf);
    }

    /** TEST: an exception is simulated. */
    public boolean test() {
        return ModePage.bit(parameters, 0, TEST);
    }

    /** Whether MRIE is 0, {@link #UNIT_ATTENTION} or {@link #ON_REQUEST}. */
    boolean isReportingMethodKnown() {
        int method = reportingMethod();
        return method == 0 || method == UNIT_ATTENTION || method == ON_REQUEST;
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
