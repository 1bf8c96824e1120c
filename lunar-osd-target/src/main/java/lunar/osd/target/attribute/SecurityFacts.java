package lunar.osd.target.attribute;

import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/** State of the device's security for attributes of policy/security pages. Thread-safe. */
public interface SecurityFacts {
    /** Returns the lowest method that commands may use. */
    SecurityMethod method();

    /** Returns the number of this start of the device, 16 bits; 0 without security. */
    int bootEpoch();

    /** Returns how much older than the clock a request nonce may be unless an attribute says otherwise, in ms. */
    long oldestNonceMs();

    /** Returns how much newer than the clock a request nonce may be unless an attribute says otherwise, in ms. */
    long newestNonceMs();

    /** Returns the most request nonces that the device remembers. */
    int nonceDepth();

    /** Returns the identifier of the master key; no bytes without security. */
    Bytes masterKeyId();

    /** Returns the identifier that SET KEY has given the root key; no bytes for none. */
    Bytes rootKeyId(ObjectReader objects) throws StorageException;

    /** Returns the identifier that SET KEY has given the key of a partition; no bytes for none. */
    Bytes partitionKeyId(ObjectReader objects, long partition) throws StorageException;

    /** Returns the identifier that SET KEY has given a working key, 0 to 15; no bytes for none. */
    Bytes workingKeyId(ObjectReader objects, long partition, int version) throws StorageException;
}
