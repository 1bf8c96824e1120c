package lunar.osd.target.security;

import lunar.osd.security.SecretKey;
import lunar.osd.store.ObjectReader;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * A key in force.
 *
 * @param key the key
 * @param id its identifier; no bytes for a key that no SET KEY has set
 */
record NamedKey(SecretKey key, Bytes id) {
    /** Returns the key that is stored, if it is valid below another one, else the one of a seed. */
    static NamedKey below(SecretKey above, ObjectReader objects, ObjectId object,
            AttributeId attribute, Bytes initialSeed) throws StorageException {
        return SetKey.decode(objects.attribute(object, attribute), above)
                .map(set -> new NamedKey(set.key(), set.id()))
                .orElseGet(() -> new NamedKey(above.derive(initialSeed), Bytes.EMPTY));
    }
}
