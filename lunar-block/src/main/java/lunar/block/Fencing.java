package lunar.block;

/**
 * Excludes other hosts from writing to a device, enforced by the device itself: SCSI persistent reservations of type
 * Write Exclusive, Registrants Only (SPC-5 section 5.13). A key is any number but 0 and identifies one owner, which may
 * reach the device over several paths. All methods block; any thread may call them, one at a time.
 *
 * <p>Each method throws {@link NotSupportedException} or {@link InvalidRequestException} if the device does not support
 * reservations, and {@link ReservationConflictException} if a reservation of another key prevents it.
 */
public interface Fencing {
    /** A set of keys that may be preempted. */
    @FunctionalInterface
    interface Keys {
        /** Whether the key is in the set. */
        boolean contains(long key);
    }

    /** Registers the key for this host, over all its paths. Needed before a write while a reservation is held. */
    void join(long key) throws StorageException;

    /** Registers the key if this host has registered it in another session; otherwise does nothing. */
    void rejoin(long key) throws StorageException;

    /**
     * Registers the key and reserves the device: from now on only holders of this key write to it. The keys of other
     * owners are preempted and their commands aborted.
     *
     * @param others the keys that may be preempted; a reservation of any other key is a conflict
     */
    void seize(long key, Keys others) throws StorageException;

    /**
     * Whether this key still holds the reservation. Registers the key for paths that have come up since.
     *
     * @return false if there is no reservation any more, as after a reset of the target
     * @throws ReservationConflictException if another key holds the reservation
     */
    boolean holds(long key) throws StorageException;

    /** Releases the reservation and removes the registrations of this key. */
    void leave(long key) throws StorageException;
}
