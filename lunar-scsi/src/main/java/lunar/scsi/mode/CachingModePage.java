package lunar.scsi.mode;

import lunar.scsi.Bytes;
import lunar.scsi.wire.CdbFields;

/**
 * The Caching mode page, 08h (SBC-4).
 *
 * @param saveable PS
 * @param parameters 18 bytes
 */
public record CachingModePage(boolean saveable, Bytes parameters) implements ModePage {
    public static final int CODE = 0x08;

    private static final int LENGTH = 18;
    private static final int WCE = 2;
    private static final int RCD = 0;

    public CachingModePage {
        CdbFields.check("page length", parameters.length(), 0xff);
    }

    /** A page with WCE alone. */
    public static CachingModePage of(boolean writeCacheEnabled) {
        return new CachingModePage(false, ModePage.withBit(Bytes.of(new byte[LENGTH]), 0, WCE,
                writeCacheEnabled));
    }

    /** A mask under which MODE SELECT may change WCE. */
    static Bytes changeable() {
        return ModePage.withBit(Bytes.of(new byte[LENGTH]), 0, WCE, true);
    }

    /** WCE: a write may end with GOOD before it is on stable storage. */
    public boolean writeCacheEnabled() {
        return ModePage.bit(parameters, 0, WCE);
    }

    /** RCD: reads come from the medium. */
    public boolean readCacheDisabled() {
        return ModePage.bit(parameters, 0, RCD);
    }

    @Override
    public int code() { return CODE; }
}
