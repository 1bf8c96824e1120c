package lunar.block;

/**
 * Shuts other hosts out of writing to a device, enforced by the device itself: SCSI persistent reservations of type
 * Write Exclusive, Registrants Only (SPC-5 section 5.13). A key is any number but 0 and names one owner, which may
 * reach the device by several paths. All methods block; any thread may call them, one at a time.
 *
 * <p>Each method throws {@link NotSupportedException} or {@link InvalidRequestException} where the device does not know
 * reservations, and {@link ReservationConflictException} where the owner of another key is in the way.
 */
public interface Fencing {
    /** The keys that may be taken away. */
    @FunctionalInterface
    interface Keys {
        boolean contains(long key);
    }

    /** Registers the key for this host, by all its paths. Needed before a write where another host has the device. */
    void join(long key) throws StorageException;

    /** Registers the key where this host, by another session, has registered it already; else does nothing. */
    void rejoin(long key) throws StorageException;

    /**
     * Takes the device: from now on only holders of this key write to it. Commands of owners whose keys are taken away
     * are aborted first. The key is registered.
     *
     * @param others the keys that may be taken away; a reservation of any other key is a conflict
     */
    void seize(long key, Keys others) throws StorageException;

    /**
     * Whether the device still is this key's. Registers the key for paths that have come up since.
     *
     * @return false where the reservation is gone, as after a reset of the target
     * @throws ReservationConflictException where another key has it
     */
    boolean holds(long key) throws StorageException;

    /** Lets the device go: ends the reservation and the registrations of this key. */
    void leave(long key) throws StorageException;
}
