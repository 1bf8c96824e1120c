package lunar.osd.target;

import lunar.osd.security.SecretKey;
import lunar.osd.wire.security.SecurityMethod;

/**
 * Security of an object-based storage device. Immutable.
 *
 * @param method the lowest method that commands may use: CAPKEY, CMDRSP or ALLDATA
 * @param master the master key, from which those of the device follow unless SET KEY sets others
 * @param replaceKey whether the master key may be another than the store was served with before; then all credentials
 *        and keys of before are invalid. Else such a device is not opened
 */
public record OsdSecurity(SecurityMethod method, SecretKey master, boolean replaceKey) {
    /** Checks the method. */
    public OsdSecurity {
        if (method == SecurityMethod.NOSEC) {
            throw new IllegalArgumentException("NOSEC is what a device without this has");
        }
    }

    /** Returns security with the master key that the store was served with before, if it was. */
    public static OsdSecurity of(SecurityMethod method, SecretKey master) {
        return new OsdSecurity(method, master, false);
    }
}
