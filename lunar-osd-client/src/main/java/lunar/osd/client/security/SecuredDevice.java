package lunar.osd.client.security;

import java.io.IOException;
import java.util.List;
import lunar.scsi.Bytes;

/** Facts about a device that an issuer of credentials needs. Thread-safe. */
public interface SecuredDevice {
    /**
     * Facts that the keys of a partition follow from.
     *
     * @param createdMs when it was created, in milliseconds since 1970
     * @param partitionKey identifier of its key; no bytes if SET KEY has not set it
     * @param workingKeys identifiers of its 16 working keys, likewise
     */
    record PartitionKeyIds(long createdMs, Bytes partitionKey, List<Bytes> workingKeys) {
        /** Makes the list unmodifiable. */
        public PartitionKeyIds {
            workingKeys = List.copyOf(workingKeys);
        }
    }

    /** Returns the OSD system identifier, 20 bytes. */
    Bytes systemId() throws IOException;

    /**
     * Asks what the keys of a partition follow from, with a credential of the root key.
     *
     * @throws lunar.osd.client.NoSuchObjectException if it does not exist
     */
    PartitionKeyIds keyIds(long partition) throws IOException;
}
