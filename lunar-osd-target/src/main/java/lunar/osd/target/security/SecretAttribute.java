package lunar.osd.target.security;

import lunar.osd.target.attribute.SecretPage;
import lunar.osd.wire.attribute.AttributeId;

/** Attributes of the secret pages. */
final class SecretAttribute {
    /** Which master key the device was opened with: 20 bytes. */
    static final AttributeId MASTER_FINGERPRINT = ofRoot(1);
    /** Number of the last start: two bytes. */
    static final AttributeId BOOT_EPOCH = ofRoot(2);
    /** No nonce of a later time was admitted: six bytes. */
    static final AttributeId NONCE_MARK = ofRoot(3);
    /** {@link SetKey} of the root key. */
    static final AttributeId ROOT_KEY = ofRoot(4);
    /** {@link SetKey} of a partition key. */
    static final AttributeId PARTITION_KEY = new AttributeId(SecretPage.OF_PARTITION, 1);

    private static final int FIRST_WORKING_KEY = 0x10;

    private SecretAttribute() {}

    private static AttributeId ofRoot(int number) {
        return new AttributeId(SecretPage.OF_ROOT, number);
    }

    /** {@link SetKey} of a working key. */
    static AttributeId workingKey(int version) {
        return new AttributeId(SecretPage.OF_PARTITION, FIRST_WORKING_KEY + version);
    }
}
