package lunar.osd.target;

import java.security.SecureRandom;
import lunar.scsi.Bytes;

/**
 * The security token of an I_T nexus: what CAPKEY binds requests to, so that they cannot be sent over another one.
 *
 * @param value 20 random bytes
 */
record SecurityToken(Bytes value) {
    private static final int LENGTH = 20;
    private static final SecureRandom RANDOM = new SecureRandom();

    static SecurityToken create() {
        byte[] bytes = new byte[LENGTH];
        RANDOM.nextBytes(bytes);
        return new SecurityToken(Bytes.of(bytes));
    }
}
